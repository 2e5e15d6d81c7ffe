"""Links into private networks, from a public start, by every way that leads there."""

import asyncio
import ipaddress
import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from hypothesis import given
from hypothesis import strategies as st

from coati.live import StopReason
from coati.live.failures import PrivateAddressError
from coati.live.private_addresses import PublicResolver, is_private, refuse_private_literal
from coati.web.rules import Rules
from tests.live.crawling import crawl_from
from tests.live.scripted import answer, page, scripted

IS_PRIVATE = "coati.live.private_addresses.is_private"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.5.4", "192.168.0.1", "169.254.169.254",  # noqa: S104
        "100.64.0.1", "224.0.0.1", "255.255.255.255", "192.0.2.1", "::", "::1", "fe80::1", "fe80::1%eth0",
        "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::",
        "64:ff9b::a00:1", "2001:0:0:0:0:0:f5ff:fffe",
    ],
)  # fmt: skip
def test_private_addresses_are_known_in_every_disguise(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:2800:220:1::1", "64:ff9b::808:808"])
def test_public_addresses_are_public(address: str) -> None:
    assert not is_private(address)


@given(st.ip_addresses())
def test_a_private_address_is_private_in_ipv6_too(
    address: "ipaddress.IPv4Address | ipaddress.IPv6Address",
) -> None:
    private = is_private(str(address))
    if address.is_private or address.is_loopback or address.is_link_local:
        assert private
    if isinstance(address, ipaddress.IPv4Address):
        assert is_private(f"::ffff:{address}") == private


class Names(AbstractResolver):
    """Names as an attacker has them: each look-up gives the next answer."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        addresses = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in addresses
        ]

    async def close(self) -> None: ...


def test_names_that_lead_to_private_addresses_are_refused() -> None:
    async def check() -> None:
        public = await PublicResolver(Names(["93.184.216.34"])).resolve("example.org", 80)
        assert [found["host"] for found in public] == ["93.184.216.34"]
        for answers in (["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::1"]):
            with pytest.raises(PrivateAddressError):
                await PublicResolver(Names(answers)).resolve("example.org", 80)

    asyncio.run(check())


def test_a_name_that_changes_its_mind_is_refused_on_the_second_look() -> None:
    async def check() -> None:
        resolver = PublicResolver(Names(["93.184.216.34"], ["169.254.169.254"]))
        await resolver.resolve("example.org", 80)
        with pytest.raises(PrivateAddressError):
            await resolver.resolve("example.org", 80)

    asyncio.run(check())


def test_literal_addresses_are_checked_since_nobody_resolves_them() -> None:
    refuse_private_literal("example.org")
    refuse_private_literal("1.1.1.1")
    refuse_private_literal("16843009")
    refuse_private_literal("1.0x1")


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "[::1]",
            "::1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f.1",
            "0x7f000001",
            "0177.0.0.1",
        ),
        *("017700000001", "127.0.0.1.", "10.1", "0xa9fea9fe", "169.254.43518", "0", "[::ffff:127.0.0.1]"),
        *(
            "::ffff:7f00:1",
            "[0:0:0:0:0:ffff:10.0.0.1]",
            "fe80::1%eth0",
            "\uff11\uff12\uff17.1",
            "127\u30021",
            "%31%32%37.1",
        ),
    ],
)
def test_literal_private_addresses_are_refused_however_they_are_written(host: str) -> None:
    with pytest.raises(PrivateAddressError):
        refuse_private_literal(host)


def test_rules_that_lead_into_a_private_network_are_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IS_PRIVATE, lambda a: a != "127.0.0.2" and is_private(a))
    with scripted({"/robots.txt": page()}) as inside, scripted({"/": page()}, host="127.0.0.2") as server:
        port = inside.base.rpartition(":")[2]
        monkeypatch.setattr("coati.live.robots.registered_domain", lambda _: "one.test")
        server.routes["/robots.txt"] = answer(302, Location=f"http://127.1:{port}/robots.txt")
        crawl_from(server.start, allow_private=False)
    assert inside.asked == []


class AnyUrl(Rules):
    """No rule at all."""

    def refusal(self, url: str) -> None:
        return None


@pytest.mark.parametrize("how", ["link", "redirect", "name"])
def test_a_crawl_does_not_follow_into_private_networks(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Let one loopback address pass for a public one.
    monkeypatch.setattr(IS_PRIVATE, lambda a: a != "127.0.0.2" and is_private(a))
    with scripted({"/secret": page()}) as inside, scripted({}, host="127.0.0.2") as server:
        secret = inside.base + "/secret"
        if how == "name":
            secret = secret.replace("127.0.0.1", "localhost")
        server.routes["/"] = page(secret) if how != "redirect" else page("/r")
        server.routes["/r"] = answer(302, Location=secret)
        crawled = crawl_from(server.start, rules=AnyUrl(server.start), allow_private=False, robots=False)
    assert inside.asked == []
    assert crawled.skipped[secret] == "private address"
    assert crawled.result.progress.pages == 1


def test_a_public_start_that_leads_to_a_private_address_is_refused() -> None:
    with scripted({"/": page()}) as server:
        start = server.start.replace("127.0.0.1", "localhost")
        crawled = crawl_from(start, allow_private=False)
        assert crawl_from(start).result.stop is StopReason.FINISHED
    assert crawled.result.stop is StopReason.REFUSED
    # Not "robots.txt", which was the first thing that it would have asked for.
    assert crawled.result.first_failure == "private address"
    assert crawled.skipped == {start: "private address"}
