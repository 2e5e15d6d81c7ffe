"""Which page of a generated site links to what: a tree in a few arrays.

From the start page, hubs branch into categories, each category is a chain of listing pages ("next page"), and
each listing page leads to its items. If the parameters say so, chains without targets extend beyond all
others, or there are further chains of one page without any. Targets, errors, redirects and other files hang
on pages. Pages are numbered breadth-first, so the children of a page are consecutive and a lower number never
lies deeper: any link to a lower number leaves every depth as it is. About 20 bytes per page.
"""

from __future__ import annotations

import heapq
import math
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from coati.testing.site_parameters import SiteParameters


class Role(IntEnum):
    """What a page is for."""

    HOME = 0
    HUB = 1
    LISTING = 2
    ITEM = 3


class Attached:
    """What hangs on pages, numbered in the order of the pages.

    >>> errors = Attached([2, 0, 1])
    >>> list(errors.of(0)), list(errors.of(2)), errors.owner(2), len(errors)
    ([0, 1], [2], 2, 3)
    """

    __slots__ = ("_starts",)

    def __init__(self, counts: Iterable[int]) -> None:
        self._starts = array("I", accumulate(counts, initial=0))

    def __len__(self) -> int:
        """Count what hangs anywhere."""
        return self._starts[-1]

    def of(self, page: int) -> range:
        """Return the numbers that hang on a page."""
        return range(self._starts[page], self._starts[page + 1])

    def owner(self, number: int) -> int:
        """Return the page on which a number hangs."""
        return bisect_right(self._starts, number) - 1


@dataclass(frozen=True, slots=True)
class SiteGraph:
    """The tree. ``chain`` says which listing a page belongs to, ``place`` its number in that listing.

    ``remote`` marks the chains that extend beyond all others, from their first page on.
    """

    roles: bytearray
    families: bytearray
    parents: array[int]
    first_child: array[int]
    chain: array[int]
    place: array[int]
    remote: bytearray
    targets: Attached
    errors: Attached
    redirects: Attached
    others: Attached

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.roles)

    def children(self, page: int) -> range:
        """Return the pages that hang on a page: items in order, then the next page of the listing."""
        return range(self.first_child[page], self.first_child[page + 1])


def build_graph(parameters: SiteParameters, rich: Sequence[bool], rng: Random) -> SiteGraph:
    """Build the graph that the parameters ask for; ``rich`` says which families hold targets."""
    tree = _PageTree(_plan(parameters, rng), _Sections(tuple(rich), parameters.rich_last))
    counts = _target_counts(parameters, tree, rich, rng)
    available = parameters.pages + parameters.targets
    wasted = parameters.urls - available
    total = parameters.error_share + parameters.redirect_share + parameters.other_share
    errors = round(wasted * parameters.error_share / total) if total else 0
    redirects = round(wasted * parameters.redirect_share / total) if total else 0
    return SiteGraph(
        tree.roles,
        tree.families,
        tree.parents,
        tree.first_child,
        tree.chain,
        tree.place,
        tree.remote,
        Attached(counts),
        _scatter(errors, parameters.pages, rng),
        _scatter(redirects, parameters.pages, rng),
        _scatter(wasted - errors - redirects, parameters.pages, rng),
    )


# Entries of a menu that a person can still overlook; a hub may have more before another level is put in.
_WIDE = 40
_WIDEST = 400

# Chains of listing pages differ in length by up to this share of their mean, where there are this many: among
# a few, a single one that is too long would decide how deep the targets lie.
_JITTER = 0.5
_MANY_CHAINS = 20


@dataclass(frozen=True, slots=True)
class _Plan:
    """How many pages of each role, level by level.

    ``longer`` listing pages are added to chains without targets; the last ``extra`` chains hold none.
    """

    hub_levels: tuple[int, ...]
    chain_lengths: tuple[int, ...]
    items: int
    longer: int = 0
    extra: int = 0


def _plan(parameters: SiteParameters, rng: Random) -> _Plan:
    """Choose levels and lengths such that the mean target is as deep as asked.

    A target of an item on page k of a listing under h levels of hubs is h + k + 2 links from the start.
    """
    barren = round(abs(parameters.barren_depth) * parameters.pages)
    pages = parameters.pages - barren
    listings = max(1.0, 0.9 * pages / parameters.listing_size)
    levels, length = 0, 1.0
    for levels in range(max(0, math.floor(parameters.target_depth - 3)) + 1):
        length = max(1.0, 2 * (parameters.target_depth - 2 - levels) - 1)
        if listings / length <= _WIDE ** (levels + 1):
            break
    chains = min(round(listings / length), _WIDEST ** (levels + 1))
    chains = max(chains, min(parameters.templates, int(pages / (3 * length))), 1)
    hubs = tuple(max(1, round(chains ** (level / (levels + 1)))) for level in range(1, levels + 1))
    left = pages - 1 - sum(hubs)
    lengths = _chain_lengths(chains, length, left, rng)
    items = left - sum(lengths)
    # Barren listing pages have as many items as all others.
    more = min(barren, math.ceil(barren * sum(lengths) / max(1, left)))
    if parameters.barren_depth > 0:
        return _Plan(hubs, lengths, items + barren - more, longer=more)
    return _Plan(hubs, (*lengths, *(1,) * more), items + barren - more, extra=more)


def _chain_lengths(chains: int, length: float, pages: int, rng: Random) -> tuple[int, ...]:
    spread = _JITTER * min(1.0, (chains - 1) / _MANY_CHAINS)
    # An item lies rather on a long chain than on a short one; without this the mean depth would grow.
    length /= 1 + spread**2 / 3
    lengths: list[int] = []
    for _ in range(chains):
        wanted = max(1, math.floor(length * rng.uniform(1 - spread, 1 + spread) + rng.random()))
        lengths.append(min(wanted, pages))
        pages -= lengths[-1]
    return tuple(size for size in lengths if size)


@dataclass(frozen=True, slots=True)
class _Sections:
    """Which families the sections of a site are of, in the order of the start page."""

    rich: tuple[bool, ...]
    rich_last: float

    def families(self, count: int) -> list[int]:
        """Return the families of this many sections: in turns, then moved as far as the parameters say.

        >>> _Sections((True, False), 1.0).families(4), _Sections((True, False), 0.0).families(4)
        ([1, 1, 0, 0], [0, 1, 0, 1])
        """

        def place(section: int) -> float:
            stays = (1 - abs(self.rich_last)) * section / count
            return stays + self.rich_last * self.rich[section % len(self.rich)]

        return [section % len(self.rich) for section in sorted(range(count), key=place)]

    @property
    def barren(self) -> list[int]:
        """The families that hardly hold targets; all, where all are rich."""
        return [family for family, rich in enumerate(self.rich) if not rich] or [*range(len(self.rich))]


# A part of the chains without targets is extended; long tails are what deep archives of news are.
_LONGER_CHAINS = 0.25


class _PageTree:
    """The pages alone, grown breadth-first from a plan."""

    def __init__(self, plan: _Plan, sections: _Sections) -> None:
        self.roles = bytearray()
        self.families = bytearray()
        self.parents = array("I")
        self.first_child = array("I")
        self.chain = array("I")
        self.place = array("I")
        # By page: whether it is there to hold no targets, and whether its chain extends beyond all others.
        self.barren = bytearray()
        self.remote = bytearray()
        self._plan = plan
        self._sections = sections
        self._lengths = list(plan.chain_lengths)
        self._listings = sum(plan.chain_lengths) + plan.longer
        self._listings_grown = 0
        self._heads: list[int] = []
        self._longer_chains: frozenset[int] = frozenset()
        self._add(0, Role.HOME, 0)
        page = 0
        # The first pages of each level of hubs, and of the listings below them.
        level_start, level = 0, 0
        while page < len(self.roles):
            self.first_child.append(len(self.roles))
            if level <= len(plan.hub_levels):
                level_size = plan.hub_levels[level - 1] if level else 1
                self._branch(page, page - level_start, level_size, level)
                if page + 1 == level_start + level_size:
                    level_start, level = page + 1, level + 1
                    if level > len(plan.hub_levels):
                        self._lengthen()
            elif self.roles[page] == Role.LISTING:
                self._fill(page)
            page += 1
        self.first_child.append(len(self.roles))

    def _add(self, parent: int, role: Role, family: int, chain: int = 0, place: int = 0) -> None:
        self.roles.append(role)
        self.families.append(family)
        self.parents.append(parent)
        self.chain.append(chain)
        self.place.append(place)
        is_listed = role in {Role.LISTING, Role.ITEM}
        listing_place = place if role is Role.LISTING else self.place[parent]
        self.barren.append(is_listed and self._is_barren(chain, listing_place))
        self.remote.append(is_listed and chain in self._longer_chains)

    def _is_barren(self, chain: int, place: int) -> bool:
        lengths = self._plan.chain_lengths
        return place > lengths[chain] or chain >= len(lengths) - self._plan.extra

    def _branch(self, page: int, position: int, width: int, level: int) -> None:
        """Attach an even share of the next level to the home page or a hub."""
        hubs = self._plan.hub_levels
        is_hub = level < len(hubs)
        below = hubs[level] if is_hub else len(self._lengths)
        families = self._sections.families(below) if not level else []
        for child in range(position * below // width, (position + 1) * below // width):
            family = self.families[page] if level else families[child]
            if is_hub:
                self._add(page, Role.HUB, family)
                continue
            chain = len(self._heads)
            if chain >= len(self._lengths) - self._plan.extra:
                barren = self._sections.barren
                family = barren[chain % len(barren)]
            self._add(page, Role.LISTING, family, chain, 1)
            self._heads.append(family)

    def _lengthen(self) -> None:
        """Extend some chains without targets."""
        barren = self._sections.barren
        able = [chain for chain, family in enumerate(self._heads) if family in barren] or [0]
        count = max(1, round(_LONGER_CHAINS * len(able)))
        # Opposite to where the sections with targets stand.
        chosen = able[:count] if self._sections.rich_last >= 0 else able[-count:]
        if self._plan.longer:
            self._longer_chains = frozenset(chosen)
        for turn, chain in enumerate(chosen):
            self._lengths[chain] += (turn + 1) * self._plan.longer // len(chosen)
            self._lengths[chain] -= turn * self._plan.longer // len(chosen)

    def _fill(self, page: int) -> None:
        """Attach its items to a listing page and, last, the next page of its chain."""
        number, items = self._listings_grown, self._plan.items
        self._listings_grown += 1
        chain, place, family = self.chain[page], self.place[page], self.families[page]
        for _ in range(items * number // self._listings, items * (number + 1) // self._listings):
            self._add(page, Role.ITEM, family, chain)
        if place < self._lengths[chain]:
            self._add(page, Role.LISTING, family, chain, place + 1)


# How much likelier an item of a rich family has targets than one of another; a few stray ones are honest.
_STRAY = 0.03

# The least depths of a target that an item and that a listing links to.
_ITEM_TARGET_DEPTH = 3
_LISTING_TARGET_DEPTH = 2


def _target_counts(
    parameters: SiteParameters, tree: _PageTree, rich: Sequence[bool], rng: Random
) -> array[int]:
    """Decide how many targets hang on each page."""
    counts = array("I", bytes(4 * len(tree.roles)))
    upper, lower, near = _where_targets_lie(parameters.target_depth)
    left = parameters.targets
    left_pages = parameters.target_pages
    for role, share in ((upper, near), (lower, 1.0)):
        targets = round(left * share)
        pages = _draw_pages(tree, role, min(round(left_pages * share) or 1, targets), counts, rich, rng)
        if not pages:
            continue
        for page, count in zip(
            pages, _spread(targets, len(pages), parameters.reward_spread, rng), strict=True
        ):
            counts[page] = count
        left -= targets
        left_pages -= len(pages)
    return counts


def _where_targets_lie(depth: float) -> tuple[Role, Role, float]:
    """Split the targets between two roles so that their mean depth comes out; the share is the first's.

    An item's targets are three links from the start or more, a listing's two, the start page's one.
    """
    if depth >= _ITEM_TARGET_DEPTH:
        return Role.LISTING, Role.ITEM, 0.0
    if depth >= _LISTING_TARGET_DEPTH:
        return Role.LISTING, Role.ITEM, _ITEM_TARGET_DEPTH - depth
    return Role.HOME, Role.LISTING, _LISTING_TARGET_DEPTH - depth


def _draw_pages(
    tree: _PageTree, first: Role, count: int, taken: array[int], rich: Sequence[bool], rng: Random
) -> list[int]:
    """Draw pages of a role, then of the roles above it if there are too few; some chains are richer."""
    drawn: list[int] = []
    appeal: dict[int, float] = {}
    for role in (first, *(role for role in reversed(Role) if role != first)):
        if len(drawn) == count:
            break
        keys: list[tuple[float, int]] = []
        for page, other in enumerate(tree.roles):
            if other != role or taken[page] or tree.barren[page]:
                continue
            chain = tree.chain[page]
            if chain not in appeal:
                appeal[chain] = rng.lognormvariate(0, 1)
            weight = appeal[chain] * (1 if rich[tree.families[page]] else _STRAY)
            # Drawing without replacement by weight: the largest of these keys (Efraimidis and Spirakis).
            keys.append((math.log(1 - rng.random()) / weight, page))
        drawn += [page for _, page in heapq.nlargest(count - len(drawn), keys)]
    return sorted(drawn)


def _spread(total: int, parts: int, spread: float, rng: Random) -> list[int]:
    """Split a total into heavy-tailed parts of at least one."""
    extra = total - parts
    mean = total / parts
    # The one that each part has for sure does not vary, so the rest must vary more.
    relative = spread * mean / max(mean - 1, 0.1)
    sigma = math.sqrt(math.log(1 + relative**2))
    weights = [rng.lognormvariate(0, sigma) for _ in range(parts)]
    scale = extra / sum(weights)
    marks = [0, *(round(mark * scale) for mark in accumulate(weights))]
    marks[-1] = extra
    return [1 + after - before for before, after in pairwise(marks)]


def _scatter(count: int, pages: int, rng: Random) -> Attached:
    counts = array("I", bytes(4 * pages))
    for _ in range(count):
        counts[rng.randrange(pages)] += 1
    return Attached(counts)
