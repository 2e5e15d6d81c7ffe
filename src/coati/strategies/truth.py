"""What is true of a site, for strategies that may know it: oracles and bounds. Only replay has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from coati.model import Kind


@dataclass(frozen=True, slots=True)
class SiteTruth:
    """The graph of a site, its URLs numbered breadth-first from the start page in document order.

    ``children[n]`` lists what URL n leads to, once each: the links of a page, the location of a redirect.
    ``parent[n]`` is the URL that led to n first (the breadth-first tree); -1 for the start.
    """

    urls: Sequence[str]
    kinds: Sequence[Kind]
    sizes: npt.NDArray[np.int64]
    children: Sequence[npt.NDArray[np.int32]]
    parent: npt.NDArray[np.int32]
    number_of: Mapping[str, int]

    def kind(self, url: str) -> Kind | None:
        """Return the kind of a URL; None if it cannot be reached."""
        number = self.number_of.get(url)
        return None if number is None else self.kinds[number]
