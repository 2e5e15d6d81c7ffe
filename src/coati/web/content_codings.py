r"""Undoing Content-Encodings, piece by piece and within bounds: gzip, deflate, Brotli, Zstandard.

However small the input is, the output comes in pieces of a bounded size, so that the caller can stop before a
bomb has grown. The end counts as much as the rest: a body that breaks off is distinguished from
one that is whole.

    >>> import gzip
    >>> unpacking = Unpacking(codings_of("gzip"))
    >>> packed = gzip.compress(b"a,b\n1,2\n")
    >>> b"".join([*unpacking.feed(packed[:9]), *unpacking.feed(packed[9:])])
    b'a,b\n1,2\n'
    >>> unpacking.whole
    True
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# What goes out at once, and how much a decoder is given at once: it copies what lies after the end of one
# stream, and a body may be made of a great many.
_OUT_BYTES: Final = 256 * 1024
_IN_BYTES: Final = 8 * 1024

# How many codings may lie on top of each other; honest servers use one.
_MOST_CODINGS: Final = 4

# RFC 9659: more than 8 MiB are never needed to undo a Content-Encoding.
_ZSTD_WINDOW: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: 23}

# What servers name though it changes no byte: by mistake for a charset, or out of their own storage.
_NO_CODINGS: Final = frozenset(
    {
        "identity",
        "none",
        "binary",
        "7bit",
        "8bit",
        "utf-8",
        "utf8",
        "iso-8859-1",
        "windows-1252",
        "aws-chunked",
    }
)


class CodingError(ValueError):
    """The body is not packed as its header says, or in a way that cannot be undone here."""


def codings_of(header: str) -> tuple[str, ...]:
    """Return the codings that a Content-Encoding header names, in the order in which they were applied.

    >>> codings_of("br, X-Gzip"), codings_of("identity"), codings_of("UTF-8")
    (('br', 'gzip'), (), ())
    """
    names = (part.strip().lower().removeprefix("x-") for part in header.split(","))
    return tuple(name for name in names if name and name not in _NO_CODINGS)


def can_undo(codings: Sequence[str]) -> bool:
    """Tell whether all of these codings can be undone; a great many on top of each other cannot."""
    return len(codings) <= _MOST_CODINGS and all(coding in _CODINGS for coding in codings)


class Unpacking:
    """Undoes codings; ``whole`` says at the end whether anything was missing. Raises `CodingError`."""

    def __init__(self, codings: Sequence[str]) -> None:
        if not can_undo(codings):
            raise CodingError(f"packed as {', '.join(codings)[:100]!r}")
        self._layers = [_CODINGS[coding]() for coding in reversed(codings)]

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Take a piece as it came, and yield what it unpacks to; all of it must be taken."""
        return _through(self._layers, piece)

    @property
    def whole(self) -> bool:
        """Whether every coding has come to its end."""
        return all(layer.whole for layer in self._layers)


class GzipFileUnpacking:
    """Undoes gzip for what is a gzip file by its name or type; it is `Unpacking` otherwise.

    Many servers call a file of gzip packed, as if a browser should unpack it, and it would no longer be what
    it is called. Where one gzip lies in another, the outer one was for the way.
    """

    def __init__(self) -> None:
        self._inner = Unpacking(("gzip",))
        self._packed = self._unpacked = b""
        self._keeps: bool | None = None

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Take a piece as it came, and yield what belongs to the file."""
        self._packed += piece
        for part in self._inner.feed(piece):
            self._unpacked += part
            if self._keeps is None and len(self._unpacked) >= len(_GZIP_BEGINS):
                self._keeps = not self._unpacked.startswith(_GZIP_BEGINS)
            if self._keeps is False:
                yield self._unpacked
            if self._keeps is not None:
                self._unpacked = b""
        if self._keeps:
            yield self._packed
        if self._keeps is not None:
            self._packed = b""

    @property
    def whole(self) -> bool:
        """Whether what is packed came to its end."""
        return self._inner.whole

    def rest(self) -> bytes:
        """Return what was too short to recognise, at the end."""
        return self._packed if self._keeps is None else b""


def _through(layers: Sequence[_Streams], piece: bytes) -> Iterator[bytes]:
    if not layers:
        yield piece
        return
    for part in layers[0].feed(piece):
        yield from _through(layers[1:], part)


class _Stream(Protocol):
    """One stream of a coding; ``pending``: there is more to give without more to take."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def pending(self) -> bool: ...
    def decompress(self, data: bytes) -> bytes: ...


class _Streams:
    """One coding: a stream, or several one after the other if each ``begins`` with certain bytes.

    Whatever else follows a stream is padding.
    """

    def __init__(self, new: Callable[[], _Stream], *begins: bytes) -> None:
        self._new = new
        self._begins = begins
        self._stream = new()
        self._fed = self._over = False
        # Too few bytes after a stream to see whether they begin another.
        self._held = b""

    @property
    def whole(self) -> bool:
        return self._over or self._stream.eof or not self._fed

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _IN_BYTES):
            rest = data[start : start + _IN_BYTES]
            while rest and not self._over:
                if self._stream.eof:
                    rest = self._begin(rest)
                else:
                    yield from self._unpack(rest)
                    # Empty as long as the stream has not come to its end.
                    rest = self._stream.unused_data

    def _begin(self, data: bytes) -> bytes:
        """Begin the next stream, if this is one; return what it is to be fed."""
        data, self._held = self._held + data, b""
        if any(data.startswith(beginning) for beginning in self._begins):
            self._stream = self._new()
            return data
        if any(beginning.startswith(data) for beginning in self._begins):
            self._held = data
        else:
            self._over = True
        return b""

    def _unpack(self, data: bytes) -> Iterator[bytes]:
        self._fed = True
        try:
            while True:
                part = self._stream.decompress(data)
                if part:
                    yield part
                if not self._stream.pending:
                    return
                data = b""
        except (zlib.error, brotli.error, zstd.ZstdError, EOFError) as error:
            raise CodingError(str(error)) from error


class _Zlib:
    def __init__(self, window_bits: int = 16 + zlib.MAX_WBITS) -> None:
        self._stream = zlib.decompressobj(window_bits)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    @property
    def pending(self) -> bool:
        return bool(self._stream.unconsumed_tail) and not self._stream.eof

    def decompress(self, data: bytes) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, _OUT_BYTES)


class _Deflate(_Zlib):
    """The standard means zlib's wrapping by "deflate"; many servers send the bare stream."""

    def __init__(self) -> None:
        super().__init__(zlib.MAX_WBITS)
        self._head: bytes | None = b""

    def decompress(self, data: bytes) -> bytes:
        if self._head is not None:
            data = self._head + data
            if len(data) < _ZLIB_HEAD_BYTES:
                self._head = data
                return b""
            self._head = None
            if int.from_bytes(data[:_ZLIB_HEAD_BYTES], "big") % 31 or data[0] & 0x0F != zlib.DEFLATED:
                self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        return super().decompress(data)


class _Brotli:
    unused_data = b""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        # It says that it takes more while it still holds what it unpacked: only a call shows it.
        self.pending = False

    @property
    def eof(self) -> bool:
        return bool(self._stream.is_finished())

    def decompress(self, data: bytes) -> bytes:
        part = bytes(self._stream.process(data, output_buffer_limit=_OUT_BYTES))
        self.pending = bool(part) and not self.eof
        return part


class _Zstd:
    def __init__(self) -> None:
        self._stream = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    @property
    def pending(self) -> bool:
        return not self._stream.needs_input and not self._stream.eof

    def decompress(self, data: bytes) -> bytes:
        return self._stream.decompress(data, _OUT_BYTES)


_ZLIB_HEAD_BYTES: Final = 2
_GZIP_BEGINS: Final = b"\x1f\x8b"
# A frame, or one that holds something else and is skipped.
_ZSTD_BEGINS: Final = (b"\x28\xb5\x2f\xfd", *(bytes((0x50 + n, 0x2A, 0x4D, 0x18)) for n in range(16)))

_CODINGS: Final[dict[str, Callable[[], _Streams]]] = {
    "gzip": lambda: _Streams(_Zlib, _GZIP_BEGINS),
    "deflate": lambda: _Streams(_Deflate),
    "br": lambda: _Streams(_Brotli),
    "zstd": lambda: _Streams(_Zstd, *_ZSTD_BEGINS),
}
