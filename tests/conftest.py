"""What holds for every test: no network but this machine's own, and repeatable examples in CI."""

import ipaddress
import os
import signal
import sys
import threading

import hypothesis

# Machines that share their cores are slow at times, so neither an example nor its making has a deadline.
_PATIENT = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("dev", _PATIENT)
hypothesis.settings.register_profile("ci", _PATIENT, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _refuse_the_network(event: str, arguments: tuple[object, ...]) -> None:
    if event != "socket.connect":
        return
    match arguments:
        case (_, (str(host), *_)) if not _is_local(host):
            raise RuntimeError(f"a test tried to reach {host}: tests stay on this machine")


sys.addaudithook(_refuse_the_network)

# A shell lets what it starts in the background ignore Ctrl-C, and a hang-up under `nohup`; what we start
# would inherit that, and a test of Ctrl-C would wait for ever. So how the tests were started makes no odds.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
