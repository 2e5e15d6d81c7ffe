"""``coati crawl --dry-run``: what would be crawled, at the price of robots.txt and the start page."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from protego import Protego

from coati.cli.crawl_result import WITHOUT_CERTIFICATE
from coati.cli.errands import Answer, run_errand
from coati.cli.terminal import say
from coati.live.failures import FailureReason
from coati.live.robots import MAX_RULES_BYTES
from coati.model import Failure, Page, Refused
from coati.report.words import count
from coati.runs.reasons import SkipReason
from coati.settings.asking import live_settings
from coati.strategies.path_groups import PathGroups
from coati.strategies.tag_path_vectors import TagPathSpace
from coati.strategies.tag_paths import TagPathSettings
from coati.web.links import LinkExtractor
from coati.web.sitemaps import sitemaps_of_robots
from coati.web.urls import host_of, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coati.cli.run_place import RunPlace
    from coati.model import Link
    from coati.settings.run_settings import RunSettings

AGENT = "Coati"

UNREACHABLE, REFUSED = 3, 4

_NO_ENTRY = frozenset({401, 403, 407, 429, 451})
_FEW_LINKS = 3
_SHOWN_GROUPS = 12
_EXAMPLES = 3
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class LinkGroup:
    """Links of the start page with similar tag paths."""

    links: int
    tag_path: str
    examples: list[str]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a dry run found out; the fields are those of its JSON form."""

    start_url: str
    final_url: str
    start_page: str
    robots: str
    start_allowed: bool
    crawl_delay: float | None
    sitemaps: list[str]
    folder: str
    resumes: bool
    scope: str
    types: str
    strategy: str
    links: int
    admitted: int
    refused: dict[str, int]
    groups: list[LinkGroup]
    exit_code: int


def dry_run(place: RunPlace) -> int:
    """Fetch the two, show what would be crawled, and give the exit code."""
    url, asked = place.settings.url, live_settings(place.settings)
    # robots.txt itself may always be asked for; what it says is then asked for the start page.
    robots = _Look(resolve(url, "/robots.txt") or url)
    run_errand(robots, url, replace(asked, robots=False))
    start = _Look(url)
    if not _is_silent(robots.answer):
        run_errand(start, url, asked)
    silence = _nothing(url) if robots.answer is None else robots.answer._replace(url=url, hops=0)
    preview = _preview(place, robots.answer, start.answer or silence)
    if place.settings.format == "json":
        say(json.dumps(asdict(preview)))
    else:
        _print(preview)
    return preview.exit_code


class _Look:
    """One URL, and what came of it (`coati.cli.errands.Errand`)."""

    def __init__(self, url: str) -> None:
        self._left = [url]
        self.answer: Answer | None = None

    def next_url(self) -> str | None:
        return self._left.pop() if self._left else None

    def take(self, url: str, answer: Answer) -> None:
        self.answer = answer


def _nothing(url: str) -> Answer:
    return Answer(url, Failure(0, 0, "interrupted"))


def _is_silent(answer: Answer | None) -> bool:
    """Tell whether nobody answered at all."""
    return answer is None or (isinstance(answer.outcome, Failure) and not answer.outcome.status)


def _preview(place: RunPlace, robots: Answer | None, start: Answer) -> Preview:
    settings = place.settings
    text = _robots_text(robots)
    rules = Protego.parse(text)
    delay = rules.crawl_delay(AGENT)
    links, refused, total = _links(settings, start)
    admitted = [link for link in links if not _obeys(settings) or rules.can_fetch(link.url, AGENT)]
    if len(links) > len(admitted):
        refused[SkipReason.ROBOTS.value] = len(links) - len(admitted)
    return Preview(
        start_url=settings.url,
        final_url=start.url,
        start_page=_described(start),
        robots=_robots_described(robots, text),
        start_allowed=not (isinstance(start.outcome, Refused) and start.outcome.reason == SkipReason.ROBOTS),
        crawl_delay=None if delay is None else float(delay),
        sitemaps=sitemaps_of_robots(text, resolve(settings.url, "/robots.txt") or settings.url),
        folder=str(place.folder),
        resumes=place.resumed,
        scope=settings.scope,
        types=settings.types,
        strategy=settings.strategy,
        links=total,
        admitted=len(admitted),
        refused=dict(sorted(refused.items(), key=lambda item: -item[1])),
        groups=_groups(admitted),
        exit_code=_exit_code(start),
    )


def _obeys(settings: RunSettings) -> bool:
    """Tell whether robots.txt is obeyed; only the finer limits can switch it off."""
    return bool(dict(settings.limits).get("robots", True))


def _links(settings: RunSettings, start: Answer) -> tuple[list[Link], Counter[str], int]:
    """Give the links that the rules admit, count those that they do not, and count all; each URL once."""
    if not isinstance(start.outcome, Page) or start.body is None:
        return [], Counter(), 0
    content_type = next((value for name, value in start.headers if name.lower() == "content-type"), "")
    page = LinkExtractor(settings.rules).extract(start.body, start.url, content_type)
    admitted: dict[str, Link] = {}
    for index, url in enumerate(page.links.urls):
        if url not in admitted:
            admitted[url] = page.links.link(index)
    refused = Counter(reason.value for reason in dict(page.refused).values())
    total = len(admitted) + sum(refused.values())
    if page.nofollow:
        return [], refused + Counter({SkipReason.NOFOLLOW.value: len(admitted)}), total
    return list(admitted.values()), refused, total


def _groups(links: Iterable[Link]) -> list[LinkGroup]:
    """Group links as the strategies over tag paths do, the largest group first."""
    parameters = TagPathSettings()
    space = TagPathSpace(parameters.ngram, parameters.log2_dimensions, parameters.word_bits)
    index = PathGroups(parameters.similarity, space.dimensions)
    members: dict[int, list[Link]] = {}
    for link in links:
        members.setdefault(index.join(space.vector(link.tag_path)), []).append(link)
    ordered = sorted(members.values(), key=len, reverse=True)
    return [
        LinkGroup(len(group), " > ".join(group[0].tag_path), [link.url for link in group[:_EXAMPLES]])
        for group in ordered
    ]


def _robots_text(answer: Answer | None) -> str:
    body = None if answer is None else answer.good_body
    return (body or b"")[:MAX_RULES_BYTES].decode("utf-8", "replace")


def _robots_described(answer: Answer | None, text: str) -> str:
    if answer is None:
        return "not asked for"
    outcome = answer.outcome
    if isinstance(outcome, Refused):
        return f"not read: {outcome.reason}"
    if isinstance(outcome, Failure):
        none = 400 <= outcome.status < 500 and outcome.status != 429  # noqa: PLR2004 - HTTP's own numbers
        return (
            f"none ({outcome.reason})" if none else f"unreachable ({outcome.reason}): nothing may be fetched"
        )
    rules = sum(line.strip().lower().startswith(("disallow:", "allow:")) for line in text.splitlines())
    return f"read; {rules} {'rule' if rules == 1 else 'rules'}"


def _described(start: Answer) -> str:
    outcome = start.outcome
    if isinstance(outcome, Refused):
        return f"not fetched ({outcome.reason})"
    if isinstance(outcome, Failure):
        return outcome.reason
    kind = "a page" if isinstance(outcome, Page) else "no page"
    hops = f", after {start.hops} {'redirect' if start.hops == 1 else 'redirects'}" if start.hops else ""
    return f"{kind}, status {outcome.status}, {outcome.size_bytes:,} bytes{hops}"


def _exit_code(start: Answer) -> int:
    if isinstance(start.outcome, Refused):
        return REFUSED
    if isinstance(start.outcome, Failure):
        return REFUSED if start.outcome.status in _NO_ENTRY else UNREACHABLE
    return 0


def _print(preview: Preview) -> None:
    verb = "go on in" if preview.resumes else "begin in"
    lines = [
        ("start page", f"{preview.final_url}: {preview.start_page}"),
        ("robots.txt", preview.robots),
        ("scope", f"{preview.scope} of {host_of(preview.start_url)}"),
        ("would take", f"{preview.types}, by {preview.strategy}"),
        ("would", f"{verb} {preview.folder}"),
    ]
    if not preview.start_allowed:
        lines.append(("but", "robots.txt forbids the start page"))
    if preview.crawl_delay is not None:
        lines.append(("crawl delay", f"{preview.crawl_delay:g} s, as robots.txt asks"))
    if preview.sitemaps:
        lines.append(("sitemaps", f"{len(preview.sitemaps)}, which --sitemaps would read"))
    say(preview.start_url, bold=True)
    for name, text in lines:
        say(f"  {name + ':':<13}{text}")
    if preview.start_page == FailureReason.CERTIFICATE:
        say(f"Next: {WITHOUT_CERTIFICATE}.", err=True)
    if preview.exit_code:
        return
    say(f"\n{count(preview.links, 'link')} on the start page: {count(preview.admitted)} may be followed")
    for reason, urls in preview.refused.items():
        say(f"  {urls:>5,} not: {reason}")
    _print_groups(preview.groups)
    if preview.admitted < _FEW_LINKS:
        say(
            "So few links may mean that the site builds its pages in the browser:"
            " docs/how-to/render-javascript.md says what to do.",
            err=True,
        )


def _print_groups(groups: Sequence[LinkGroup]) -> None:
    if not groups:
        return
    say(f"\n{count(len(groups), 'group')} of links with similar places on the page")
    for group in groups[:_SHOWN_GROUPS]:
        path = group.tag_path
        say(f"  {group.links:>5,} {path if len(path) <= _WIDTH else '… ' + path[-_WIDTH:]}")
        say(f"        {group.examples[0]}")
    if len(groups) > _SHOWN_GROUPS:
        say(f"  and {len(groups) - _SHOWN_GROUPS:,} smaller ones")
