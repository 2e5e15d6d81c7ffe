"""What the live driver hands over for one finished request, to be stored before it is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from coati.model import Outcome, Request
    from coati.runs.skip_reasons import Reason
    from coati.web.rules import Refusal


@dataclass(frozen=True, slots=True)
class RenderNote:
    """What rendering a page took: the requests that it made and their bytes; ``failed`` says what went wrong.

    ``skipped`` are the addresses that the page was not given.
    """

    requests: int = 0
    received_bytes: int = 0
    seconds: float = 0.0
    failed: str = ""
    skipped: tuple[tuple[str, Reason], ...] = ()


@dataclass(frozen=True, slots=True)
class Fetched:
    """One request and all that came of it.

    ``charged`` counts the requests it cost, retries included; 0 for one that was refused. A body that was
    streamed to disk stands in ``body_file`` (the store moves it), any other in ``body``. ``refused`` lists
    the links of the page that the rules forbid, ``skipped`` URLs that are left alone for another reason.
    ``lists`` are the addresses that became list addresses by it (`coati.readers.list_addresses`).
    ``missing`` says what is not there of a page that is not whole: empty, or words for people.
    ``sent`` are the headers of the request, secrets left out; None where nothing was sent, or nobody knows.
    ``rendered`` tells how a browser rendered the page, if one did.
    ``strategy`` names who chose the request, where a run has several. Times are seconds since the epoch.
    """

    request: Request
    outcome: Outcome
    started_at: float
    finished_at: float
    charged: int = 1
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    body_file: Path | None = None
    refused: tuple[tuple[str, Refusal], ...] = ()
    skipped: tuple[tuple[str, Reason], ...] = ()
    lists: tuple[str, ...] = ()
    missing: str = ""
    strategy: str = ""
    sent: tuple[tuple[str, str], ...] | None = None
    rendered: RenderNote | None = None

    def header(self, wanted: str) -> str:
        """Return the first value of a header by its lower-case name; empty where there is none."""
        for name, value in self.headers:
            if name.lower() == wanted:
                return value
        return ""
