"""Characters that are not seen and do something: they must not reach a page or a terminal as they are."""

from __future__ import annotations

import re
from typing import Final

# Control characters, and those that reverse or hide text: with them a name can look like another one.
UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
