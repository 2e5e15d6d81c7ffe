"""Sites served from another process, for measurements that must not share a processor's time with the server.

The process runs ``python -m coati.testing``; it ends when its standard input does, so it never outlives the
one that started it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from coati.errors import UsageError
from coati.testing.site_parameters import SiteParameters

_STOP_SECONDS = 30


@dataclass(slots=True)
class ServerProcess:
    """A server elsewhere. ``requests`` counts by start URL, and is filled when the server has stopped."""

    pid: int
    start_urls: list[str]
    requests: dict[str, int] = field(default_factory=dict)


@contextmanager
def serve_in_process(
    parameters: SiteParameters | None = None, *, seed: int = 0, sites: int = 1, latency_seconds: float = 0.0
) -> Iterator[ServerProcess]:
    """Serve generated sites, or the sample site if there are no parameters, until the block ends.

    Several sites have the seeds ``seed``, ``seed + 1`` and so on.
    """
    command = [sys.executable, "-m", "coati.testing", f"--seed={seed}", f"--sites={sites}"]
    command.append(f"--latency={latency_seconds}")
    if parameters is not None:
        command.append(f"--parameters={json.dumps(asdict(parameters))}")
    with subprocess.Popen(  # noqa: S603 - our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            ready = process.stdout.readline() if process.stdout else ""
            if not ready:
                raise UsageError("the server did not start; its reason stands on the error output")
            server = ServerProcess(process.pid, json.loads(ready)["start_urls"])
            yield server
            last, _ = process.communicate(timeout=_STOP_SECONDS)
            server.requests = json.loads(last)["requests"]
        finally:
            process.kill()
