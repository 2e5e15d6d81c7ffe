"""The headline: which site, when, how much for how little, and why it stopped."""

from __future__ import annotations

from coati.reporting.run_end import end_of
from coati.reporting.run_facts import RunFacts, RunStage
from coati.reporting.safe_html import Html, element, joined, shortened, web_link
from coati.times import format_moment
from coati.units import format_bytes, format_count, format_seconds, format_share


def headline(facts: RunFacts) -> Html:
    """Say the most important things first."""
    end = end_of(facts)
    site = shortened(facts.site) or "no site yet"
    if facts.hosts > 1 and facts.seeks_pages:
        site = format_count(facts.hosts, "host")
    return element(
        "header",
        element("p", "Coati · report of a run", class_="kicker"),
        element("h1", _title(facts, site)),
        element("p", _summary(facts), class_="summary"),
        element("p", end.sentence, class_="stage running" if facts.stage is RunStage.RUNNING else "stage"),
        element(
            "ul",
            *_found_tiles(facts),
            _reach_tile(facts),
            _tile(
                format_seconds(facts.seconds),
                "time",
                f"stopped because {end.brief}" if _over(facts) else end.brief,
            ),
            class_="tiles",
        ),
    )


def _reach_tile(facts: RunFacts) -> Html | None:
    """Say how much of what is known was requested; of a search, how many sites were checked."""
    if facts.watches:
        return None
    if facts.is_search:
        return _count_tile(facts.sites_checked, "site", " checked", "those that looked like repositories")
    return _tile(format_share(facts.requested, facts.known), "of the known URLs requested", _known(facts))


def _found_tiles(facts: RunFacts) -> tuple[Html, Html]:
    totals = facts.totals
    if facts.is_search:
        name = "repository" if facts.repositories == 1 else "repositories"
        found = _tile(format_count(facts.repositories), f"{name} verified", "each links to data files")
        queries = f"{format_count(facts.queries)} of them queries"
        return found, _count_tile(totals.requests, "request", " made", queries)
    if facts.watches:
        cycles = format_count(facts.cycles, "cycle")
        known = _count_tile(facts.changes, "change", " noticed", f"in {cycles}")
        each = f"{totals.requests / max(facts.cycles, 1):.0f} per cycle"
        return known, _count_tile(totals.requests, "request", " made", each)
    return (
        _count_tile(totals.targets, facts.target_noun, " found", format_bytes(totals.target_bytes)),
        _count_tile(
            totals.requests,
            "request",
            " made",
            f"{_per_hundred(facts)} {facts.target_noun}s per 100 requests",
        ),
    )


def _title(facts: RunFacts, site: str) -> str:
    if facts.is_search:
        found = format_count(facts.repositories, "repository", "repositories")
        return f"{found} on “{shortened(facts.topic, 80)}”"
    if facts.watches:
        return f"{format_count(facts.changes, 'change')} on {site}"
    return f"{format_count(facts.totals.targets, facts.target_noun)} from {site}"


def _summary(facts: RunFacts) -> Html:
    totals = facts.totals
    if facts.is_search:
        return joined(
            f"A search started on {format_moment(facts.began_at)}:"
            f" {format_count(totals.requests, 'request')}, of which"
            f" {format_count(facts.queries, 'was a query', 'were queries')} to search engines."
        )
    kind = "A watch of " if facts.watches else "A crawl from "
    begin = _begin(facts)
    if not totals.requests:
        return joined(
            kind, begin, ". There was no response." if _over(facts) else ". There is no response yet."
        )
    if facts.watches:
        requests = format_count(totals.requests, "request")
        return joined(kind, begin, f", started on {format_moment(facts.began_at)}, in {requests}.")
    found = (
        f" found {format_count(totals.targets, facts.target_noun)} ({format_bytes(totals.target_bytes)})"
        f" in {format_count(totals.requests, 'request')}"
        if totals.targets
        else f" found no {facts.target_noun} in {format_count(totals.requests, 'request')}"
    )
    copies = totals.targets - totals.relevant_pages - facts.files
    note = f"; {format_count(copies)} of them have the same content as another one" if copies > 0 else ""
    return joined(
        kind,
        begin,
        f", started on {format_moment(facts.began_at)},",
        found,
        note,
        ".",
    )


def _begin(facts: RunFacts) -> Html:
    urls = facts.settings.get("urls", ())
    # Which of many is requested first is a matter of chance.
    return web_link(facts.start_url) if len(urls) < 2 else joined(f"{len(urls)} URLs")  # noqa: PLR2004


def _per_hundred(facts: RunFacts) -> str:
    totals = facts.totals
    return f"{100 * totals.targets / totals.requests:.0f}" if totals.requests else "0"


def _known(facts: RunFacts) -> str:
    return f"{format_count(facts.requested)} of {format_count(facts.known, 'URL')}"


def _over(facts: RunFacts) -> bool:
    return facts.stage is not RunStage.RUNNING


def _count_tile(number: int, noun: str, done: str, note: str) -> Html:
    return _tile(format_count(number), f"{noun}{'' if number == 1 else 's'}{done}", note)


def _tile(number: str, name: str, note: str) -> Html:
    return element("li", element("b", number), element("span", name), element("small", note))
