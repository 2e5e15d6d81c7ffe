"""What was imported stays until the end, so the garbage collector need not go through it again and again."""

from __future__ import annotations

import atexit
import gc


def spare_imported_modules() -> None:
    """Leave what is there now out of all further collections; those at the very end go through it again.

    They must: a library that counts what it leaves behind would report everything as a leak.
    """
    gc.freeze()
    atexit.unregister(gc.unfreeze)
    atexit.register(gc.unfreeze)
