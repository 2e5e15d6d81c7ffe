"""What holds for every test: no network but this machine's own, and the same examples each time."""

import ipaddress
import signal
import socket
import sys
import threading

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

# A machine that shares its cores is slow at times: neither an example nor the making of one has a deadline.
hypothesis.settings.register_profile(
    "other-examples", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.register_profile(
    "same-examples", hypothesis.settings.get_profile("other-examples"), derandomize=True
)
hypothesis.settings.load_profile("same-examples")


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Keep repeatable examples free of the constants of whichever modules are loaded by then."""
    if hypothesis.settings.get_current_profile_name() == "same-examples":
        providers._get_local_constants = providers.Constants  # noqa: SLF001 - there is no setting for it


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_local(host: str) -> bool:
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def _refuse_the_network(event: str, arguments: tuple[object, ...]) -> None:
    match event, arguments:
        case "socket.connect", (_, (str(host), *_)) if not _is_local(host):
            raise RuntimeError(f"a test tried to reach {host}: tests stay on this machine")
        case "socket.getaddrinfo", (str(name), *_) if name != "localhost" and _address(name) is None:
            # Whom this machine asks for names, and how soon that one replies, must not matter.
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


sys.addaudithook(_refuse_the_network)

# A shell lets what it starts in the background ignore Ctrl-C, and a hang-up under `nohup`; what we start
# would inherit that, and a test of Ctrl-C would wait for ever. So how the tests were started makes no odds.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
