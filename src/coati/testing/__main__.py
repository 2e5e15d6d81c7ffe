"""``python -m coati.testing``: serve made-up sites until the standard input ends.

The first line of the output is a JSON object with the start URLs, the last one with each site's requests.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import Any

from coati.errors import CoatiError, unknown_name
from coati.testing.generator import generate_site
from coati.testing.sample_site import sample_site
from coati.testing.server import MakeSite, serve
from coati.testing.site_parameters import SiteParameters


def main() -> int:
    """Read the options, serve, and say what was served."""
    options = _options()
    try:
        makers = [_maker(options.parameters, options.seed + number) for number in range(options.sites)]
        with serve(*makers, latency=options.latency, port=options.port) as server:
            _say({"start_urls": [site.start_url for site in server.sites]})
            with suppress(KeyboardInterrupt):
                sys.stdin.read()
            counts = Counter(seen.url.split("/", 3)[2] for seen in server.requests)
            urls = [site.start_url for site in server.sites]
            _say({"requests": {url: counts[url.split("/", 3)[2]] for url in urls}})
    except CoatiError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m coati.testing", description="Serve made-up sites on loopback."
    )
    parser.add_argument(
        "--parameters", type=json.loads, help="SiteParameters as JSON; without them the sample site"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sites", type=int, default=1, help="how many, each on an address of its own")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each response")
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose")
    return parser.parse_args()


def _maker(parameters: dict[str, Any] | None, seed: int) -> MakeSite:
    if parameters is None:
        return partial(sample_site, seed=seed)
    known = SiteParameters.__dataclass_fields__
    for name in parameters:
        if name not in known:
            raise unknown_name("site parameter", name, known)
    return partial(generate_site, SiteParameters(**parameters), seed)


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
