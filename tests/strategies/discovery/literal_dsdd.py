"""DSDD as its paper tells it, slowly: one page after the other, every set written out, scikit-learn's SVM."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from coati.model import Method, Outcome, Page, Redirect, Request
from coati.web.dataset_files import is_dataset_file
from coati.web.page_words import words_in

ACTIONS = ("kw", "rl", "bl", "fw")


def site(url: str) -> str:
    return url.split("/")[2].removeprefix("www.")


class LiteralDsdd:
    def __init__(
        self,
        topic: str,
        examples: list[tuple[dict[str, int], bool]],
        fetch: Callable[[Request], Outcome],
        sizes: dict[str, int],
    ) -> None:
        self.topic, self.examples, self.fetch, self.sizes = topic, list(examples), fetch, sizes
        self.asked: list[str] = []
        # Every URL that was ever seen, in order: known ones come after new ones on a page.
        self.seen: list[str] = []
        self.stop = {
            w for w, n in Counter(w for page, _ in examples for w in page).items() if n > 0.2 * len(examples)
        }
        self.pages: list[dict[str, Any]] = []
        self.sites: dict[str, dict[str, Any]] = {}
        self.shown = dict.fromkeys(ACTIONS, 0)
        self.reward = dict.fromkeys(ACTIONS, 0.0)
        self.used: dict[str, set[str]] = {action: set() for action in ACTIONS}
        self.terms: set[str] = set()
        self.fit()

    def fit(self) -> None:
        documents = [page for page, _ in self.examples]
        self.df = Counter(word for page in documents for word in page)
        self.order = {word: place for place, word in enumerate(self.df)}
        rows = np.array([self.vector(page) for page in documents])
        self.svm = LinearSVC(C=1.0, dual=False, tol=1e-9, max_iter=10000).fit(
            rows, [label for _, label in self.examples]
        )

    def vector(self, page: dict[str, int]) -> np.ndarray:
        row = np.zeros(len(self.order))
        for word, count in page.items():
            if word in self.order:
                idf = math.log((1 + len(self.examples)) / (1 + self.df[word])) + 1
                row[self.order[word]] = (0.5 + 0.5 * count / max(page.values())) * idf
        norm = float(np.linalg.norm(row))
        return row / norm if norm else row

    def get(self, url: str) -> tuple[Outcome, list[str]]:
        self.asked.append(url)
        if url not in self.seen:
            self.seen.append(url)
        outcome = self.fetch(Request(len(self.asked), Method.GET, url))
        if isinstance(outcome, Redirect):
            if outcome.location not in self.seen:
                self.seen.append(outcome.location)
            return outcome, []
        if not isinstance(outcome, Page):
            return outcome, []
        on_page = list(dict.fromkeys(outcome.links.urls))
        new = [url for url in on_page if url not in self.seen]
        self.seen += new
        return outcome, new + [url for url in self.seen if url in on_page and url not in new]

    def run(self) -> list[str]:
        self.iterate("kw", [f"q={self.topic.replace(' ', '+')}"], [])
        while True:
            awake = [action for action in ACTIONS if self.work(action)]
            if not awake:
                return self.asked
            action = max(awake, key=self.upper_bound)
            self.pull(action)

    def upper_bound(self, action: str) -> float:
        if not self.shown[action]:
            return math.inf
        n = sum(self.shown.values())
        return self.reward[action] / self.shown[action] + math.sqrt(2 * math.log(n) / self.shown[action])

    def seeds(self, action: str | None) -> list[dict[str, Any]]:
        pages = [
            page
            for name in self.sites
            for page in self.sites[name]["pages"]
            if self.sites[name]["state"] == "verified"
        ]
        if pages:
            scores = self.bm25(pages)
            pages = sorted(pages, key=lambda page: -scores[page["url"]])
        else:
            pages = sorted(
                (page for page in self.pages if page["relevant"]), key=lambda page: -page["margin"]
            )
        return [page for page in pages if action is None or page["url"] not in self.used[action]]

    def bm25(self, pages: list[dict[str, Any]]) -> dict[str, float]:
        query = [*words_in(self.topic), *self.top([page["words"] for page in pages], {"data"}, 5), "data"]
        df = Counter(word for page in pages for word in page["words"])
        idf = {word: math.log((len(pages) - n + 0.5) / (n + 0.5)) for word, n in df.items()}
        mean_idf = sum(idf.values()) / len(idf)
        mean_length = sum(sum(page["words"].values()) for page in pages) / len(pages)
        scores = {}
        for page in pages:
            length = sum(page["words"].values())
            score = 0.0
            for word in query:
                f = page["words"].get(word, 0)
                weight = idf.get(word, 0.0)
                weight = weight if weight >= 0 else 0.25 * abs(mean_idf)
                score += weight * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * length / mean_length))
            scores[page["url"]] = score
        return scores

    def top(self, pages: list[dict[str, int]], without: set[str], most: int) -> list[str]:
        counts: Counter[str] = Counter()
        df: Counter[str] = Counter()
        for page in pages:
            counts.update(page)
            df.update(page.keys())
        left = [word for word in counts if word not in self.stop | set(words_in(self.topic)) | without]
        return sorted(left, key=lambda word: (-counts[word], -df[word], word))[:most]

    def next_terms(self) -> list[str]:
        seeds = self.seeds(None)[: self.sizes["seeds"]]
        terms = self.top(
            [page["words"] for page in seeds], self.terms | {"data", "dataset"}, self.sizes["terms"]
        )
        return terms or ([] if self.terms else ["data"])

    def work(self, action: str) -> bool:
        return bool(self.next_terms() if action == "kw" else self.seeds(action))

    def pull(self, action: str) -> None:
        queries: list[str] = []
        pages: list[str] = []
        if action == "kw":
            for term in self.next_terms():
                self.terms.add(term)
                queries.append(f"q={self.topic} {term} dataset".replace(" ", "+"))
        else:
            for seed in self.seeds(action)[: self.sizes["seeds"]]:
                self.used[action].add(seed["url"])
                if action == "fw":
                    pages += seed["external"]
                else:
                    queries.append(f"{'related' if action == 'rl' else 'backlinks'}={seed['url']}")
        self.iterate(action, queries, pages)

    def iterate(self, action: str, queries: list[str], pages: list[str]) -> None:
        found: list[tuple[str, int]] = [(url, 0) for url in pages]
        shown_before = self.shown[action]
        todo = [f"search://stub/?{query}" for query in queries]
        results: Counter[str] = Counter()
        while todo:
            url = todo.pop(0)
            if url in self.asked:
                continue
            _outcome, hits = self.get(url)
            first, _, number = url.partition("&page=")
            room = self.sizes["results"] - results[first]
            results[first] += len(hits)
            for hit in hits[:room]:
                if "?related=" in url and site(hit) == site(url.partition("=")[2]):
                    continue
                found.append((hit, 0))
            if hits and len(hits) < room and int(number or 1) < 5:
                todo.append(f"{first}&page={int(number or 1) + 1}")
        self.look_at(action, found)
        for name in self.sites:
            self.verify(name)
        # A pull that shows nothing counts as one bad page.
        self.shown[action] += self.shown[action] == shown_before
        self.examples += [
            (page["words"], self.sites[page["site"]]["state"] == "verified") for page in self.unlearnt()
        ]
        self.fit()

    def unlearnt(self) -> list[dict[str, Any]]:
        pages = [page for name in self.sites for page in self.sites[name]["pages"] if not page["learnt"]]
        for page in pages:
            page["learnt"] = True
        return pages

    def look_at(self, action: str, found: list[tuple[str, int]]) -> None:
        queue = list(found)
        queued: set[str] = set()
        while queue:
            url, depth = queue.pop(0)
            known = self.sites.get(site(url), {"state": ""})["state"] == "verified"
            if url in self.asked or url in queued or known or is_dataset_file(url):
                continue
            queued.add(url)
            outcome, urls = self.get(url)
            if isinstance(outcome, Redirect):
                queue.append((outcome.location, depth))
                continue
            self.shown[action] += 1
            if not isinstance(outcome, Page):
                continue
            page = self.analyse(url, outcome, urls)
            self.reward[action] += page["relevant"]
            if action == "bl" and depth == 0:
                queue += [(other, 1) for other in page["external"]]
            if page["relevant"]:
                self.promise(page)

    def analyse(self, url: str, outcome: Page, urls: list[str]) -> dict[str, Any]:
        words: dict[str, int] = outcome.facts["words"]["words"]  # type: ignore[index]
        margin = float(self.svm.decision_function([self.vector(words)])[0])
        external: dict[str, str] = {}
        for other in urls:
            if (
                site(other) != site(url)
                and not is_dataset_file(other)
                and len(external) < self.sizes["links"]
            ):
                external.setdefault(site(other), other)
        page = {
            "url": url,
            "site": site(url),
            "words": words,
            "margin": margin,
            "relevant": margin > 0,
            "external": list(external.values()),
            "urls": urls,
            "learnt": False,
        }
        self.pages.append(page)
        return page

    def promise(self, page: dict[str, Any]) -> None:
        """Let the site of a page be checked, from this page too."""
        blank = {"state": "", "pages": [], "files": set(), "waiting": [], "asked": 0}
        check = self.sites.setdefault(page["site"], blank)
        check["pages"].append(page)
        if check["state"] == "verified":
            return
        check["files"] |= {url for url in page["urls"] if is_dataset_file(url)}
        check["waiting"] += [(url, 1) for url in self.within(page["site"], page["urls"])]
        check["state"] = "verified" if len(check["files"]) >= 10 else "open"

    def verify(self, name: str) -> None:
        check = self.sites[name]
        while check["state"] == "open" and check["waiting"]:
            url, depth = check["waiting"].pop(0)
            if url in self.asked or check["asked"] >= 200:
                continue
            check["asked"] += 1
            outcome, urls = self.get(url)
            if isinstance(outcome, Redirect):
                check["waiting"] += [(next_url, depth) for next_url in self.within(name, [outcome.location])]
                continue
            check["files"] |= {url for url in urls if is_dataset_file(url)}
            if len(check["files"]) >= 10:
                check["state"] = "verified"
            if depth < 3:
                check["waiting"] += [(url, depth + 1) for url in self.within(name, urls)]
        if check["state"] == "open":
            check["state"] = "rejected"

    def within(self, name: str, urls: list[str]) -> list[str]:
        return [url for url in urls if site(url) == name and not is_dataset_file(url)]
