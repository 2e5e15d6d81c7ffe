"""Scent: follow the link that promises most targets a request.

draft
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coati.learners.hashed_logistic import HashedLogistic
from coati.learners.value_chains import ValueChains
from coati.model import Failure, Method, Other, Page, Redirect, Refused, Request, Settlement, Target
from coati.strategies.chance import draw
from coati.strategies.data_words import DATA_EXTENSIONS, Meaning
from coati.strategies.known_urls import KnownUrls
from coati.strategies.link_keys import COLUMNS, Column, Likeness, LinkKeys, key_of
from coati.strategies.link_kinds import LinkKinds

CHAINS = (
    (Column.TOP, Column.SECOND, Column.DIRECTORY, Column.SHAPE),
    (Column.FOLDER, Column.FOLDER_FILE),
    (Column.TOP, Column.DIRECTORY, Column.FIRST_WORD),
    (Column.ELEMENT, Column.TAIL, Column.TAG_PATH),
    (Column.SOURCE_DIRECTORY, Column.SOURCE),
    (Column.DIRECTORY_EXTENSION, Column.DIRECTORY_ANCHOR),
    (Column.EXTENSION, Column.FILE_NAME),
    (Column.MEANING, Column.ANCHOR),
)

@dataclass(frozen=True, slots=True)
class ScentSettings:
    refresh_every: int = 8
    exploration: float = 0.5
    discount: float = 0.7
    rate: float = 0.15
    strength: float = 2.0
    memory: float = 60.0
    root_memory: float = 60.0
    fresh: float = 5.0
    prior_mean: float = 0.3
    prior_variance: float = 1.0
    file_odds: float = 2.0
    page_odds: float = -1.5
    meaning: float = 1.0   # prior count
    good: float = 1.0
    bad: float = 0.05
    tries: int = 4
    least: float = 0.02
    depth: int = 3
    keep: int = 1
    floor: float = 1e-3
    within: float = 0.0
    pt: float = 1.0
    drop: int = 1
    theta: float = 0.5
    going: float = 0.05
    lcb: float = 0.0
    pecap: float = 1.0
    err: int = 0
    rpow: float = 1.0
    cut: float = 0.0
    kmax: int = 20
    open_pages: int = 4096
    chains: tuple = CHAINS
    pages_window: int = 4096


class _Sent(NamedTuple):
    number: int
    arm: int
    row: Any  # None for the start page


@dataclass(slots=True)
class _OpenPage:
    request_id: int
    row: Any
    value: float
    expected: float
    best: list
    left: int
    targets: int
    weights: Any


class Scent:
    def __init__(self, start_url, seed=0, settings=None, likely_extensions=DATA_EXTENSIONS):
        self._settings = s = settings or ScentSettings()
        self._seed = seed
        self._keys = LinkKeys(likely_extensions)
        self._known = KnownUrls()
        self._kinds = LinkKinds(COLUMNS)
        self._model = HashedLogistic((-1.0, -3.0), s.rate)
        self._model.set_prior(key_of(Column.FILE_LIKE, Likeness.FILE.name), (s.file_odds, 0.0))
        self._model.set_prior(key_of(Column.FILE_LIKE, Likeness.PAGE.name), (s.page_odds, 0.0))
        self._chains = ValueChains(s.chains, prior_mean=s.prior_mean, prior_variance=s.prior_variance, strength=s.strength, memory=s.memory, root_memory=s.root_memory, fresh=s.fresh, within=s.within, floor=s.floor)
        if s.meaning:
            self._chains.set_prior(key_of(Column.MEANING, Meaning.DATA.name), s.good, s.meaning)
            self._chains.set_prior(key_of(Column.MEANING, Meaning.CHORE.name), s.bad, s.meaning)
        self._opener = array("i")
        self._promise = bytearray()
        self._open: dict[int, _OpenPage] = {}
        self._in_flight: dict[int, _Sent] = {}
        self._turn = 0
        self._going = 0.0
        self._refreshed = 0
        self._known.add(start_url); self._opener.append(-1); self._promise.append(0)
        self._hops = [0]
        self._settled = []

    # contract
    def choose(self, now, ready):
        if self._hops:
            n = self._hops.pop()
            return self._send(_Sent(n, -1, None), 0.0)
        kind = self._select()
        if kind is None:
            return None
        score = self._kinds.score(kind)
        self._going += self._settings.going * (score - self._going)
        row = self._kinds.row(kind).copy()
        return self._send(_Sent(self._kinds.pop(kind), kind, row), score)

    def _send(self, sent, score):
        self._in_flight[self._turn] = sent
        self._turn += 1
        return Request(self._turn - 1, Method.GET, self._known[sent.number], None if sent.arm < 0 else sent.arm, score)

    def _select(self):
        s = self._settings
        kinds = self._kinds
        if self._turn % s.refresh_every == 0 and kinds.blocks:
            block = self._refreshed % kinds.blocks
            self._refreshed += 1
            w = kinds.waiting_in(block)
            if len(w):
                kinds.set_block(block, w, self._scores(w, *self._estimates(kinds.rows(w))))
        for _ in range(s.tries):
            kind = kinds.best()
            if kind is None:
                return None
            old = kinds.score(kind)
            new = self._score(kind)
            if new >= old - 1e-4:
                return kind
            kinds.set_score(kind, new)
        return kinds.best()

    def _estimates(self, rows):
        p = self._model.predict_all(rows)
        m, u = self._chains.predict_all(rows)
        return p, m, u

    def _scores(self, kinds, p, m, u):
        t = p[:, 0]
        v = np.expm1(np.maximum(m + self._settings.exploration * u, 0)) * (1 - t) * (1 - p[:, 1] * self._settings.pecap)
        return (t + v) / (1 + v) + self._jitter(kinds)

    def _jitter(self, kinds):
        return ((kinds * 2654435761 + self._seed * 40503 + 12345) % 65536) * 1e-9

    def _score(self, kind):
        row = self._kinds.row(kind)
        t, e = self._model.predict(row)
        m, u = self._chains.predict(row)
        v = math.expm1(max(m + self._settings.exploration * u, 0.0)) * (1 - t) * (1 - e * self._settings.pecap)
        return (t + v) / (1 + v) + self._jitter(kind)

    def observe(self, request_id, outcome):
        sent = self._in_flight.pop(request_id)
        if isinstance(outcome, Refused):
            return ()
        if isinstance(outcome, Redirect):
            n = self._known.add(outcome.location)
            if n is not None:
                self._opener.append(self._opener[sent.number]); self._promise.append(self._promise[sent.number])
                if sent.row is None:
                    self._hops.append(n)
                else:
                    k = self._kinds.place(sent.row)
                    self._kinds.push(k, n, front=True)
                    self._kinds.set_score(k, self._score(k))
                return ()
        target = isinstance(outcome, Target)
        page = isinstance(outcome, Page)
        if sent.row is not None:
            self._model.learn(sent.row, (target, not target and not page))
            self._resolve(sent.number, target)
            if self._settings.err and not target and not page:
                self._chains.learn(sent.row, 0.0)
        if page:
            self._take_in(request_id, sent, outcome.links)
        settled, self._settled = self._settled, []
        return settled

    def _resolve(self, number, target):
        n = self._opener[number]
        page = self._open.get(n)
        if page is None:
            return
        page.left -= 1
        page.targets += target
        if target:
            page.expected += 1
        self._swap(n, page, self._promise[number] / 32, 0.0)
        if not page.left and not self._settings.keep:
            del self._open[n]
            self._settled.append(Settlement(page.request_id, float(page.targets)))

    def _swap(self, n, page, old, new, depth=0):
        """Replace a child's promise by what came of it."""
        best = page.best
        if best:
            i = min(range(len(best)), key=lambda i: abs(best[i] - old))
            best[i] = new
            best.sort(reverse=True)
        y = self._label(page.expected, best)
        if abs(y - page.value) > self._settings.least:
            if page.row is not None:
                self._chains.revise(page.row, page.value, y, *page.weights)
            before, page.value = page.value, y
            up = self._opener[n]
            parent = self._open.get(up)
            if parent is not None and depth < self._settings.depth:
                d = self._settings.discount
                self._swap(up, parent, d * math.expm1(before), d * math.expm1(y), depth + 1)

    def _label(self, r, best):
        r = max(r, 0.0)
        x = r
        t = r
        for k, b in enumerate(best, 2):
            t += b
            if t / k > x:
                x = t / k
        return math.log1p(x)

    def _take_in(self, request_id, sent, links):
        known = self._known
        source = None
        new = []
        for i, url in enumerate(links.urls):
            if url in known:
                continue
            number = known.add(url)
            if number is None: continue
            if source is None:
                source = self._keys.source(known[sent.number])
            row = np.array(self._keys.row(links.link(i), source), np.uint32)
            kind = self._kinds.place(row)
            self._kinds.push(kind, number)
            self._opener.append(sent.number)
            self._promise.append(0)
            new.append((number, kind))
        r = 0.0
        best = []
        if new:
            ks = np.array(sorted({k for _, k in new}))
            p, m, u = self._estimates(self._kinds.rows(ks))
            sc = self._scores(ks, p, m, u)
            v = np.expm1(np.maximum(m - self._settings.lcb * u, 0)) * (1 - p[:, 0]) * (1 - p[:, 1] * self._settings.pecap) * self._settings.discount
            at = {k: i for i, k in enumerate(ks.tolist())}
            for k, x in zip(ks.tolist(), sc.tolist()):
                self._kinds.set_score(k, x)
            pl = p[:, 0].tolist(); vl = v.tolist()
            for number, kind in new:
                i = at[kind]
                e = vl[i] + self._settings.pt * pl[i]
                best.append(e)
                self._promise[number] = min(255, int(e * 32))
            best.sort(reverse=True)
            del best[self._settings.kmax:]
        y = self._label(r, best)
        weights = None
        n = self._opener[sent.number]
        if n >= 0 and n in self._open:
            self._swap(n, self._open[n], 0.0, self._settings.discount * math.expm1(y), 1)
        if sent.row is not None:
            weights = self._chains.learn(sent.row, y)
        if new:
            if len(self._open) >= self._settings.open_pages:
                n = next(iter(self._open)); old = self._open.pop(n)
                self._settled.append(Settlement(old.request_id, float(old.targets)))
            self._open[sent.number] = _OpenPage(request_id, sent.row, y, r, best, len(new), 0, weights)
        else:
            self._settled.append(Settlement(request_id, 0.0))
    def arm_label(self, arm): return str(arm)
