"""From the name of a goal, or from the path of one's own, to a goal."""

from __future__ import annotations

from coati.errors import ConfigError, unknown_name
from coati.model import Facts
from coati.named_objects import object_at
from coati.web.facts import EXTRACTORS
from coati.web.markup.goals import Goal, parse_goal


def build_goal(text: str) -> Goal:
    """Build a goal by its name, or by the path of a predicate over a page's facts (``my_module:my_goal``).

    A predicate that reads other facts than ``markup`` names their extractors in its attribute ``extractors``.
    """
    if ":" not in text or "=" in text:
        return parse_goal(text)
    predicate = object_at("goal", text)
    if not callable(predicate):
        raise ConfigError(
            f"goal {text!r}: it must be a function of a page's facts that returns True or False"
        )
    extractors = tuple(dict.fromkeys(("markup", *getattr(predicate, "extractors", ()))))
    for name in extractors:
        if name not in EXTRACTORS:
            raise unknown_name(f"extractor of the goal {text!r},", name, EXTRACTORS)

    def holds(facts: Facts) -> bool:
        try:
            return bool(predicate(facts))
        except Exception as error:
            raise ConfigError(f"goal {text!r}: it failed with {type(error).__name__}: {error}") from error

    return Goal(text, holds, extractors)
