"""What a complete crawl of a site sees."""

import statistics
from collections import deque
from dataclasses import dataclass, field

from coati.model import Method, Outcome, Page, Redirect, Request, Target
from coati.testing.responder import Responder
from coati.testing.site import Site


@dataclass
class Survey:
    """What a complete breadth-first crawl of a site sees. A redirect takes no step of depth."""

    site: Site
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    tag_paths: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        responder = Responder(self.site)
        self.depths[self.site.start_url] = 0
        queue = deque([self.site.start_url])
        while queue:
            url = queue.popleft()
            outcome = responder.outcome(Request(0, Method.GET, url))
            self.outcomes[url] = outcome
            if isinstance(outcome, Page):
                for index, found in enumerate(outcome.links.urls):
                    if found not in self.depths:
                        self.depths[found] = self.depths[url] + 1
                        self.tag_paths[found] = outcome.links.link(index).tag_path
                        queue.append(found)
            elif isinstance(outcome, Redirect) and outcome.location not in self.depths:
                self.depths[outcome.location] = self.depths[url]
                queue.appendleft(outcome.location)

    def urls(self, kind: type[Outcome]) -> list[str]:
        return [url for url, outcome in self.outcomes.items() if isinstance(outcome, kind)]

    def share(self, kind: type[Outcome]) -> float:
        return len(self.urls(kind)) / len(self.outcomes)

    def rewards(self) -> list[int]:
        """Count the new targets of each page that has some, in the order of the crawl."""
        targets = set(self.urls(Target))
        rewards = []
        for outcome in self.outcomes.values():
            if isinstance(outcome, Page):
                new = targets.intersection(outcome.links.urls)
                targets -= new
                if new:
                    rewards.append(len(new))
        return rewards

    def target_depth(self) -> float:
        return statistics.mean(self.depths[url] for url in self.urls(Target))
