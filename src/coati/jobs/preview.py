"""What would be crawled, found out by fetching only robots.txt and the start URLs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from protego import Protego

from coati.jobs.crawl_run import NO_LINKS
from coati.jobs.notebook_tables import pairs_table
from coati.jobs.run_place import RunPlace
from coati.jobs.start_answers import StartAnswer, StartAnswers, exit_code_of
from coati.jobs.starts_only import crawl_starts_only, not_requested
from coati.live.outcomes import FetchResult
from coati.live.plan import CrawlResult
from coati.live.robots import MAX_RULES_BYTES
from coati.model import Deferred, Failure, Link, Page, Refused, Target
from coati.readers.robots import named_sitemaps, robots_url
from coati.runs.skip_reasons import SkipReason
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.live_settings import live_settings
from coati.settings.run_settings import RunSettings
from coati.strategies.sb.path_groups import PathGroups
from coati.strategies.sb.tag_path_vectors import TagPathSpace
from coati.strategies.sb.tag_paths import TagPathSettings
from coati.units import format_bytes, format_count
from coati.web.media import essence
from coati.web.urls import resolve

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class LinkGroup:
    """Links of the start page with similar tag paths."""

    links: int
    tag_path: str
    examples: list[str]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a dry run found out; the fields are those of its JSON form.

    ``unchecked`` of the ``admitted`` links are on hosts whose robots.txt was not read.
    """

    start_url: str
    final_url: str
    start_page: str
    media_type: str
    more_starts: dict[str, str]
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
    unchecked: int
    refused: dict[str, int]
    groups: list[LinkGroup]
    exit_code: int

    def _repr_html_(self) -> str:
        said = ("start_page", "robots", "scope", "types", "strategy", "folder", "links", "admitted")
        pairs = [(name.replace("_", " "), getattr(self, name)) for name in said]
        refused = [(f"skipped: {reason}", urls) for reason, urls in self.refused.items()]
        groups = [(f"{group.links} links", f"{group.tag_path}: {group.examples[0]}") for group in self.groups]
        return pairs_table(f"{self.start_url} would be crawled", [*pairs, *refused, *groups])


def preview_place(place: RunPlace) -> Preview:
    """Fetch the start URLs and robots.txt, and return what would be crawled."""
    answers = StartAnswers()
    # As for its sitemaps, robots.txt is a start URL.
    settings = replace(place.settings, sitemaps=True)
    answers.otherwise = not_requested(_look(settings, settings.start_urls, answers))
    # A site that redirects to another host of its own has its rules there.
    reached = (answers.of(url) for url in settings.urls)
    there = {
        answer.url: robots_url(answer.url) for answer in reached if isinstance(answer.result.outcome, Page)
    }
    new = tuple(dict.fromkeys(rules for rules in there.values() if rules not in settings.start_urls))
    if new:
        not_requested(_look(replace(settings, urls=tuple(there)), new, answers))
    return _preview(place, answers)


def _look(settings: RunSettings, urls: Sequence[str], answers: StartAnswers) -> CrawlResult:
    plan = crawl_plan(settings, CrawlResources(on_fetched=answers.take))
    # A preview is to say at once that nobody answers.
    return crawl_starts_only(replace(plan, defers=False, finishes=False), urls)


def _preview(place: RunPlace, answers: StartAnswers) -> Preview:
    settings = place.settings
    starts = {url: answers.of(url) for url in settings.urls}
    first = starts[settings.url]
    pages = (*settings.urls, *(answer.url for answer in starts.values()))
    robots = {url: answers.of(url).result for url in dict.fromkeys(map(robots_url, pages))}
    rules = {url: Protego.parse(_robots_text(result)) for url, result in robots.items()}
    own_url = robots_url(first.url if isinstance(first.result.outcome, Page) else settings.url)
    own_text = _robots_text(robots[own_url])
    agents = live_settings(settings).robots_agents
    delays = [delay for agent in agents if (delay := rules[own_url].crawl_delay(agent)) is not None]
    links, refused = _links(starts.values())
    total = len(links) + sum(refused.values())
    admitted = [link for link in links if not _obeys(settings) or _allows(rules, link.url, agents)]
    if len(links) > len(admitted):
        refused[SkipReason.ROBOTS.value] = len(links) - len(admitted)
    return Preview(
        start_url=settings.url,
        final_url=first.url,
        start_page=_described(first),
        media_type=_media_type(first.result),
        more_starts={url: _described(answer) for url, answer in starts.items() if url != settings.url},
        robots=_robots_described(robots[own_url], own_text),
        start_allowed=first.result.outcome != Refused(SkipReason.ROBOTS),
        crawl_delay=float(max(delays)) if delays else None,
        sitemaps=[url for name in named_sitemaps(own_text) if (url := resolve(own_url, name)) is not None],
        folder=str(place.folder),
        resumes=place.resumed,
        scope=settings.scope,
        types=settings.types,
        strategy=settings.strategy,
        links=total,
        admitted=len(admitted),
        unchecked=sum(robots_url(link.url) not in rules for link in admitted) if _obeys(settings) else 0,
        refused=dict(sorted(refused.items(), key=lambda item: -item[1])),
        groups=_groups(admitted),
        exit_code=min(_exit_code(answer) for answer in starts.values()),
    )


def _obeys(settings: RunSettings) -> bool:
    """Tell whether robots.txt is obeyed; only the finer limits can switch it off."""
    return bool(dict(settings.limits).get("robots", True))


def _allows(rules: Mapping[str, Protego], url: str, agents: Iterable[str]) -> bool:
    own = rules.get(robots_url(url))
    return own is None or all(own.can_fetch(url, agent) for agent in agents)


def _links(starts: Collection[StartAnswer]) -> tuple[list[Link], Counter[str]]:
    """Return the links that the rules admit, and count those that they do not; each URL once.

    Links of start pages to themselves lead nowhere.
    """
    known = {start.url for start in starts}
    admitted: dict[str, Link] = {}
    refused: dict[str, str] = {}
    for _, result, _ in starts:
        if isinstance(result.outcome, Page):
            found = result.outcome.links
            for index, url in enumerate(found.urls):
                if url not in admitted and url not in known:
                    admitted[url] = found.link(index)
            refused.update((url, reason.value) for url, reason in (*result.refused, *result.skipped))
    return list(admitted.values()), Counter(refused.values())


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


def _robots_text(result: FetchResult) -> str:
    good = isinstance(result.outcome, Page) and result.outcome.status < 300  # noqa: PLR2004 - HTTP success
    # Some begin with a mark of their encoding, which belongs to no rule.
    return (result.body or b"")[:MAX_RULES_BYTES].decode("utf-8-sig", "replace") if good else ""


def _robots_described(result: FetchResult, text: str) -> str:
    outcome = result.outcome
    if isinstance(outcome, Refused):
        return "unreachable: nothing may be fetched"
    if isinstance(outcome, Failure):
        return f"unreachable ({outcome.reason}): nothing may be fetched"
    if outcome.status >= 300:  # noqa: PLR2004 - HTTP success
        return f"none (status {outcome.status})"
    rules = sum(line.strip().lower().startswith(("disallow:", "allow:")) for line in text.splitlines())
    return f"read; {format_count(rules, 'rule')}"


def _media_type(reading: FetchResult) -> str:
    return next((essence(value) for name, value in reading.headers if name.lower() == "content-type"), "")


def _described(start: StartAnswer) -> str:
    outcome = start.result.outcome
    if isinstance(outcome, Refused):
        return f"not fetched ({outcome.reason})"
    if isinstance(outcome, Failure | Deferred):
        return outcome.reason
    kind = "a page" if isinstance(outcome, Page) else "not a page"
    hops = f", after {format_count(start.hops, 'redirect')}" if start.hops else ""
    return f"{kind}, status {outcome.status}, {format_bytes(outcome.size_bytes)}{hops}"


def _exit_code(start: StartAnswer) -> int:
    outcome = start.result.outcome
    if code := exit_code_of(outcome):
        return code
    left_alone = start.result.refused or start.result.skipped
    leads_on = isinstance(outcome, Page) and (len(outcome.links.urls) > 0 or bool(left_alone))
    return 0 if leads_on or isinstance(outcome, Target) else NO_LINKS
