"""A response body as it arrives, within limits: in memory while small, in a file when large.

Whatever a server sends, memory stays bounded.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from coati.live.failures import DownloadError, FailureReason
from coati.readers.formats import HEAD_BYTES
from coati.runs.durable import sync_file
from coati.runs.errors import RunWriteError

_BUFFER_BYTES = 256 * 1024

# A body that grows to more than this many times its declared length when decompressed, and to more than this
# many bytes, is not an honest file: tables of text shrink to a tenth, in the extreme to a fiftieth.
_BOMB_RATIO = 200
_BOMB_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """How much of a body is taken.

    Beyond ``max_bytes`` the rest is cut off, or (without ``cut``) all of it refused. Beyond ``stream_above``
    it goes to a file in ``folder``.
    """

    max_bytes: int
    cut: bool
    stream_above: int | None = None
    folder: Path | None = None


class Body:
    """Takes the decoded pieces of one body; ``declared_bytes`` is what the header said, before decoding.

    ``limits`` may change on the way, since what it is may show only in its first bytes.

    >>> body = Body(BodyLimits(max_bytes=4, cut=True))
    >>> body.write(b"abc"), body.write(b"def"), body.finish(), body.was_cut
    (True, False, b'abcd', True)
    """

    def __init__(self, limits: BodyLimits, declared_bytes: int | None = None) -> None:
        self.size_bytes = 0
        self.was_cut = False
        self.file: Path | None = None
        self.limits = limits
        self._declared = declared_bytes
        self._memory = BytesIO()
        self._out: BinaryIO | None = None

    @property
    def head(self) -> bytes:
        """The first bytes, while they are in memory."""
        return bytes(self._memory.getbuffer()[:HEAD_BYTES])

    def write(self, piece: bytes) -> bool:
        """Take a piece; False if no more is wanted.

        Raises `DownloadError`, or `RunWriteError` where it cannot be written.
        """
        limits = self.limits
        room = limits.max_bytes - self.size_bytes
        if len(piece) > room:
            if not limits.cut:
                raise DownloadError(FailureReason.TOO_LARGE, f"more than {limits.max_bytes} bytes")
            piece = piece[:room]
            self.was_cut = True
        self.size_bytes += len(piece)
        self._check_growth()
        if self._out is not None:
            self._spill(piece)
        else:
            self._memory.write(piece)
            if limits.stream_above is not None and self.size_bytes > limits.stream_above:
                self._begin_file()
        return not self.was_cut

    def finish(self) -> bytes:
        """Return what is in memory; a file is complete and closed now."""
        if self._out is None:
            return self._memory.getvalue()
        out, self._out = self._out, None
        try:
            out.close()
        except OSError as error:
            raise _full(self.file, error) from error
        return b""

    def sync(self) -> None:
        """Wait until the file is on the disk; for a thread of its own, since a large one takes long."""
        if self.file is None:
            return
        try:
            sync_file(self.file)
        except OSError as error:
            raise _full(self.file, error) from error

    def discard(self) -> None:
        """Discard what was read."""
        self._memory = BytesIO()
        if self._out is not None:
            with contextlib.suppress(OSError):
                self._out.close()
            self._out = None
        if self.file is not None:
            self.file.unlink(missing_ok=True)
            self.file = None

    def _check_growth(self) -> None:
        declared = self._declared
        if declared and self.size_bytes > _BOMB_BYTES and self.size_bytes > _BOMB_RATIO * declared:
            raise DownloadError(FailureReason.BOMB, f"{declared} bytes became more than {self.size_bytes}")

    def _begin_file(self) -> None:
        try:
            handle, self.file = _new_file(self.limits.folder)
        except OSError as error:
            raise _full(self.limits.folder, error) from error
        self._out = os.fdopen(handle, "wb", buffering=_BUFFER_BYTES)
        begun, self._memory = self._memory, BytesIO()
        self._spill(begun.getbuffer())

    def _spill(self, piece: bytes | memoryview) -> None:
        if self._out is None:
            return
        try:
            self._out.write(piece)
        except OSError as error:
            raise _full(self.file, error) from error


def _new_file(folder: Path | None) -> tuple[int, Path]:
    """Create a file under a name that nobody has; in a folder of ours whoever may read the rest may read it.

    Among the temporary files of all users it is the user's own.
    """
    if folder is None:
        handle, name = tempfile.mkstemp(prefix="body-")
        return handle, Path(name)
    place = folder / f"body-{secrets.token_hex(8)}"
    return os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), place


def _full(place: Path | None, error: OSError) -> RunWriteError:
    return RunWriteError(
        f"a large file could not be stored as {place or tempfile.gettempdir()}: {error.strerror or error}"
    )
