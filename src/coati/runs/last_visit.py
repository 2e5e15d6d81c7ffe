"""What a run knows about the last visit to a URL."""

from __future__ import annotations

from typing import NamedTuple

from coati.runs.validators import Validators


class LastVisit(NamedTuple):
    """``gave`` says that something came that may be unchanged: a page, a target or another file."""

    gave: bool
    validators: Validators = Validators()
