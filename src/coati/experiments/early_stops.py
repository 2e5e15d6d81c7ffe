"""What a rule for stopping early would have saved and missed.

A crawl that is stopped early is the beginning of the same crawl without the rule. So no run is made for a
rule: it watches the counts of the whole run, and where it would have stopped is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coati.errors import ConfigError, unknown_name
from coati.experiments.fields import called
from coati.strategies.stopping.dry_spell import DrySpell
from coati.strategies.stopping.early_stop import EarlyStop, PaperEarlyStop

_RULES: Mapping[str, Callable[..., EarlyStop]] = {"paper": PaperEarlyStop, "dry": DrySpell}


@dataclass(frozen=True, slots=True)
class EarlyStopRule:
    """A rule with its parameters, under a name for tables."""

    name: str
    rule: str
    parameters: tuple[tuple[str, float], ...] = ()

    @classmethod
    def checked(cls, name: str, rule: str, parameters: Mapping[str, object]) -> EarlyStopRule:
        """Make a rule; raises `ConfigError` for one that there is not."""
        if rule not in _RULES:
            raise unknown_name("early stop", rule, _RULES)
        if ":" in name:
            raise ConfigError(f"an early stop is called {name!r}; a colon may not be in its name")
        called(_RULES[rule], parameters, f"the early stop {name!r}")
        return cls(name, rule, tuple((key, float(str(value))) for key, value in parameters.items()))

    def build(self) -> EarlyStop:
        """Make the rule, fresh, for one run."""
        whole = {key: int(value) if value.is_integer() else value for key, value in self.parameters}
        return _RULES[self.rule](**whole)

    def stop(self, found_at: npt.NDArray[np.int64], requests: int) -> tuple[int, int]:
        """Return the requests and targets of a crawl up to where the rule ends it.

        ``found_at`` holds the number of the request that brought each target, in order.

        >>> EarlyStopRule("ours", "dry").stop(np.arange(1, 1000, 2), 10_000)
        (2000, 500)
        """
        rule = self.build()
        targets = np.zeros(requests + 1, np.int64)
        np.add.at(targets, found_at[found_at <= requests], 1)
        counts = targets.cumsum().tolist()
        for number in range(1, requests + 1):
            if rule.observe(number, counts[number]):
                return number, counts[number]
        return requests, counts[requests]
