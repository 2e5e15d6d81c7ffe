"""Addresses in private networks, which must not be requested from a public start.

A public page may hold links into the network of whoever crawls it: routers, cloud metadata, the crawler's own
machine. The check stands between resolving and connecting, on the very addresses that are connected to, so a
name that changes its mind (DNS rebinding) does not get past it.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import Final

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from coati.live.failures import PrivateAddressError
from coati.web.urls import host_of, normalise

_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")


def is_private(address: str) -> bool:
    """Tell whether an IP address is not on the public internet, also in an IPv6 disguise.

    >>> [is_private(a) for a in ("127.0.0.1", "10.1.2.3", "169.254.169.254", "::ffff:10.0.0.1", "9.9.9.9")]
    [True, True, True, True, False]
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        hidden = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if hidden is None and ip in _NAT64:
            hidden = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if hidden is not None:
            ip = hidden
    return not ip.is_global or ip.is_multicast


def refuse_private_literal(host: str) -> None:
    """Raise `PrivateAddressError` if a URL's host is itself a private address: nobody resolves that.

    It may be written as browsers and resolvers read it: ``127.1``, ``2130706433``, ``0x7f.1``.
    """
    bare = host.strip("[]")
    url = normalise(f"http://[{bare}]/" if ":" in bare else f"http://{bare}/")
    try:
        # A zone (``fe80::1%eth0``) is part of no URL.
        private = is_private(host_of(url).strip("[]") if url else bare)
    except ValueError:
        return
    if private:
        raise PrivateAddressError(f"{host} is a private address")


class PublicResolver(AbstractResolver):
    """Resolves names for aiohttp, and refuses those that lead to a private address.

    One private address among public ones is as suspicious as a single one.
    """

    def __init__(self, inner: AbstractResolver | None = None) -> None:
        self._inner = inner or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host; raises `PrivateAddressError`, or OSError where there is none."""
        found = await self._inner.resolve(host, port, family)
        private = [result["host"] for result in found if is_private(result["host"])]
        if private:
            raise PrivateAddressError(f"{host} leads to the private address {private[0]}")
        return found

    async def close(self) -> None:
        """Close the inner resolver."""
        await self._inner.close()
