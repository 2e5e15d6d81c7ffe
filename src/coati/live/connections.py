"""aiohttp's connections, on which an answer has one outcome, however its bytes are spread over packets.

aiohttp's parser tells an error to whoever waits for the headers. So without this,

- an error in a body whose headers were handed over before is told to nobody, and the body waits for its
  time-out;
- an error that comes in one packet with the headers takes them along, even where the answer was complete and
  the error is in the bytes after it;
- a body without a declared length that ends with a reset counts as whole.

Here headers are parsed apart from what follows them, and an error after them ends the body at once, and the
connection.

aiohttp has no public place for a protocol of one's own; the factory of its connector is replaced.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Any

from aiohttp import ClientPayloadError, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

from coati.live.failures import DownloadError, FailureReason

# The empty line that ends headers; not one before them, of which there may be many.
_END_OF_HEADERS = re.compile(rb"[^\r\n]\r?\n\r?\n")
_LONGEST_END = 5


class AnswerConnector(TCPConnector):
    """A connector whose connections hand over every answer, and every error of one."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of aiohttp's connector, of all types
        super().__init__(**options)
        self._factory = partial(_AnswerProtocol, loop=self._loop)  # type: ignore[assignment]  # a partial is invariant


class _AnswerProtocol(ResponseHandler):
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        # The last bytes of headers that have not ended: their end may be spread over two packets.
        self._unended = b""

    def data_received(self, data: bytes) -> None:
        if not self._awaits_headers():
            self._feed(data)
            return
        fed = len(self._unended)
        data = self._unended + data
        self._unended = b""
        searched = 0
        awaits = True
        while awaits and (end := _END_OF_HEADERS.search(data, searched)):
            self._feed(data[fed : end.end()])
            fed = searched = end.end()
            awaits = self._awaits_headers()
        if awaits:
            self._unended = data[max(searched, len(data) - _LONGEST_END + 1) :]
        if fed < len(data):
            self._feed(data[fed:])

    def connection_lost(self, exc: BaseException | None) -> None:
        if exc is not None:
            self._end_body(ClientPayloadError(f"connection lost in the body: {exc!r}"))
        super().connection_lost(exc)

    def _awaits_headers(self) -> bool:
        return self.exception() is None and (self._payload is None or self._payload.is_eof())

    def _feed(self, data: bytes) -> None:
        super().data_received(data)
        error = self.exception()
        if isinstance(error, HttpProcessingError):
            self._end_body(DownloadError(FailureReason.BAD_ANSWER, error.message[:200]))
            if self.transport is not None:
                # Closing, as aiohttp does, waits under TLS until the server agrees.
                self.transport.abort()

    def _end_body(self, error: Exception) -> None:
        if self._payload is not None and not self._payload.is_eof():
            self._payload.set_exception(error)
            # Whoever reads the body may see this late; the end of the connection must not take its place.
            self._payload = None
