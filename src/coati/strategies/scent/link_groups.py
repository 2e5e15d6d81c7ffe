"""Groups of links for reports: by directory, extension and place on the page; the sweep's links are one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coati.strategies.scent.link_keys import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coati.strategies.scent.link_keys import Row

# Groups that get a number of their own; all later ones share one.
_MOST_GROUPS = 10_000
_OTHER_LINKS = "other links"
# What the sweep chose was chosen for its folder, and not for the link's score.
_SWEPT = (-1, -1)
SWEPT_LINKS = "folders that were not visited yet, since all links promise little (sweep)"
# Looked up for each request; to ask an enumeration takes longer.
_DIRECTORY_EXTENSION, _TAIL = int(Key.DIRECTORY_EXTENSION), int(Key.TAIL)


class LinkGroups:
    """Numbers groups in the order of their first request; ``describe`` names one by a link and its tail."""

    def __init__(self, describe: Callable[[int, int], str]) -> None:
        self._describe = describe
        self._groups: dict[tuple[int, int], int] = {}
        # Of each group its label; until somebody needs it, the link and the tail that it is made of.
        self._labels: list[str | tuple[int, int]] = []

    def of(self, link: int, row: Row, *, swept: bool) -> int:
        """Return the number of a link's group."""
        group = _SWEPT if swept else (row.item(_DIRECTORY_EXTENSION), row.item(_TAIL))
        number = self._groups.get(group)
        if number is None:
            if len(self._groups) >= _MOST_GROUPS:
                return _MOST_GROUPS
            number = self._groups[group] = len(self._groups)
            self._labels.append(SWEPT_LINKS if swept else (link, group[1]))
        return number

    def is_swept(self, number: int | None) -> bool:
        """Tell whether this is the group of what the sweep chose."""
        return number is not None and number == self._groups.get(_SWEPT)

    def label(self, number: int) -> str:
        """Name a group."""
        if not 0 <= number < len(self._labels):
            return _OTHER_LINKS
        label = self._labels[number]
        if not isinstance(label, str):
            label = self._labels[number] = self._describe(*label)
        return label

    def save(self) -> dict[str, Any]:
        """Return the groups with their labels."""
        return {"groups": [[*group, self.label(number)] for group, number in self._groups.items()]}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what was saved."""
        groups: Sequence[Any] = state["groups"]
        self._groups = {(first, second): number for number, (first, second, _) in enumerate(groups)}
        self._labels = [label for _, _, label in groups]
