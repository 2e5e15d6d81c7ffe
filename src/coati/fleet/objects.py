"""The store that all machines of a fleet share: named objects, through fsspec.

An object is there whole or not at all. `ObjectStore.create` makes one only where none of that name is, and of
several who try one succeeds: everything that must not happen twice rests on this (leases, generations). On a
file system that is a hard link, elsewhere a conditional request.

Addresses, keys and regions of a service are the business of its library: of S3, ``AWS_ACCESS_KEY_ID``,
``AWS_ENDPOINT_URL`` and their siblings.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from coati.errors import CoatiError, ConfigError
from coati.machine_errors import is_full
from coati.runs.durable import sync_folder, write_synced

_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "az": "adlfs"}

# Up to here an object is read and written in one piece.
_LARGE_BYTES: Final = 32 << 20


class StoreError(CoatiError):
    """The store failed; it may work later."""


class DamagedObjectError(CoatiError):
    """An object of the store cannot be used as it is, and no retry helps; the message says what does."""

    def __init__(self, name: str, why: str) -> None:
        # Both, so that the error survives its way from a worker.
        super().__init__(name, why)
        self.name = name
        self.why = why

    def __str__(self) -> str:
        """Name the object, and say what to do about it."""
        return f"{self.name} in the store {self.why}. Restore it from a backup{_other_remedy(self.name)}"


def _other_remedy(name: str) -> str:
    kind, _, rest = name.partition("/")
    site = rest.partition("/")[0]
    match kind:
        case "sites":
            return f", or delete sites/{site} and tables/*/{site} to crawl the site from scratch"
        case "watches":
            return f", or delete watches/{site} and tables/watched-*/{site} to watch the site from scratch"
        case "objects":
            return ", or download the file again from its own URL"
        case _:
            return ", or delete it"


def require_fleet() -> None:
    """Raise `ConfigError` where the libraries of a fleet are missing."""
    missing = [name for name in ("distributed", "fsspec", "pyarrow") if find_spec(name) is None]
    if missing:
        raise ConfigError(f"a fleet needs {', '.join(missing)}: pip install 'coati[fleet]'")


class _Folder:
    """The part of fsspec's file systems that we use, for a folder: theirs takes several times as long."""

    @staticmethod
    def cat_file(path: str) -> bytes:
        with open(path, "rb") as file:  # noqa: PTH123 - as below, names are strings here
            return file.read()

    exists = staticmethod(os.path.exists)
    rm_file = staticmethod(os.unlink)

    @staticmethod
    def ls(path: str, *, detail: bool) -> list[str]:
        del detail
        return os.listdir(path)  # noqa: PTH208


@lru_cache(maxsize=16)
def open_store(url: str) -> ObjectStore:
    """Return the store at an address, the same one each time within a process."""
    return ObjectStore(url)


class ObjectStore:
    """Objects below one address: a folder, ``file://``, ``s3://``, ``gs://``, ``abfs://`` or ``memory://``.

    Names have parts between slashes. Raises `StoreError` where the store fails, and `ConfigError` where it
    cannot be meant.
    """

    def __init__(self, url: str) -> None:
        require_fleet()
        import fsspec

        scheme = url.partition("://")[0] if "://" in url else "file"
        package = _PACKAGES.get(scheme)
        if package is not None and find_spec(package) is None:
            raise ConfigError(f"the store {url} needs {package}: pip install {package}")
        options = {"use_listings_cache": False} if scheme.startswith("s3") else {}
        try:
            self._files, root = fsspec.core.url_to_fs(url, **options)
        except ValueError as error:
            raise ConfigError(f"the store {url} cannot be used: {error}") from None
        self.is_local = scheme in {"file", "local"}
        if self.is_local:
            self._files = _Folder()
        self.is_of_one_process = scheme == "memory"
        # The libraries of services raise what they like, without keys or a network among others.
        self._errors = OSError if self.is_local or self.is_of_one_process else Exception
        self.url = Path(root).as_uri() if self.is_local else url.rstrip("/")
        self._root = root.rstrip("/")

    def address(self, name: str) -> str:
        """Return where an object is, as other tools find it."""
        return f"{self._root}/{name}" if self.is_local else f"{self.url}/{name}"

    def read(self, name: str) -> bytes | None:
        """Return an object; None if there is none."""
        try:
            content: bytes = self._files.cat_file(self._path(name))
        except FileNotFoundError:
            return None
        except self._errors as error:
            raise self._failed(name, error) from error
        return content

    def create(self, name: str, content: bytes) -> bool:
        """Make an object where there is none of that name; tells whether it did.

        One that holds just this content counts as made: the answer to an earlier attempt may have got lost.
        """
        try:
            if self.is_local:
                self._link(name, content)
            else:
                self._files.pipe_file(self._path(name), content, mode="create")
        except FileExistsError:
            return self.read(name) == content
        except self._errors as error:
            raise self._failed(name, error) from error
        return True

    def replace(self, name: str, content: bytes) -> None:
        """Make an object, in place of an older one of that name."""
        try:
            if self.is_local:
                draft = self._draft(content)
                self._name(name, draft.replace)
            else:
                self._files.pipe_file(self._path(name), content)
        except self._errors as error:
            raise self._failed(name, error) from error

    def put_file(self, name: str, file: Path) -> None:
        """Make an object of a file that nobody changes any more, unless there is one of that name.

        Where file and store are on one disk, the object is the file, under another name.
        """
        if self.exists(name):
            return
        if self.is_local:
            # What is wrong with the store is told by `replace`.
            with suppress(OSError):
                self._name(name, lambda path: os.link(file, path))
                return
        if self.is_local or file.stat().st_size <= _LARGE_BYTES:
            self.replace(name, file.read_bytes())
            return
        try:
            self._files.put_file(str(file), self._path(name))
        except self._errors as error:
            raise self._failed(name, error) from error

    def get_file(self, name: str, file: Path) -> None:
        """Write an object to a file; raises `StoreError` if there is none."""
        try:
            if self.is_local:
                shutil.copyfile(self._path(name), file)
            else:
                self._files.get_file(self._path(name), str(file))
        except self._errors as error:
            if isinstance(error, OSError) and is_full(error):
                raise  # the file cannot be written, and the store is well
            raise self._failed(name, error) from error

    def exists(self, name: str) -> bool:
        """Tell whether there is an object of that name."""
        try:
            return bool(self._files.exists(self._path(name)))
        except self._errors as error:
            raise self._failed(name, error) from error

    def names(self, folder: str) -> list[str]:
        """Return the last parts of the names below a folder, in order; none where there is no such folder."""
        path = self._path(folder)
        try:
            found = self._files.ls(path, detail=False, **({} if self.is_local else {"refresh": True}))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except self._errors as error:
            raise self._failed(folder, error) from error
        return sorted(name for entry in found if (name := entry.rstrip("/").rpartition("/")[2]))

    def delete(self, name: str) -> None:
        """Remove an object, if it is there."""
        try:
            self._files.rm_file(self._path(name))
        except FileNotFoundError:
            return
        except self._errors as error:
            raise self._failed(name, error) from error

    def check(self) -> None:
        """Raise `ConfigError` where one may not write, or where two could make the same object."""
        name = f"checks/{uuid.uuid4().hex}"
        try:
            first, second = self.create(name, b"1"), self.create(name, b"2")
            self.delete(name)
        except StoreError as error:
            raise ConfigError(f"{error}. Does the store exist, and may you write there?") from None
        if not first or second:
            raise ConfigError(
                f"the store {self.url} makes an object again that is there: it knows no conditional writes,"
                " so that two could crawl one site at once. Use another store"
            )

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _name(self, name: str, give: Callable[[str], object]) -> None:
        """Give a file of a local store its name; a folder is made where it is missing."""
        path = self._path(name)
        try:
            give(path)
        except FileNotFoundError:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            give(path)

    def _draft(self, content: bytes) -> Path:
        """Write a file under a temporary name."""
        name = f"drafts/{uuid.uuid4().hex}"
        self._name(name, lambda path: write_synced(Path(path), (content,)))
        return Path(self._path(name))

    def _link(self, name: str, content: bytes) -> None:
        """Give a file its name, unless another has it."""
        draft = self._draft(content)
        try:
            self._name(name, lambda path: os.link(draft, path))
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()
        sync_folder(Path(self._path(name)).parent)

    def _failed(self, name: str, error: Exception) -> StoreError | ConfigError:
        what = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if isinstance(error, PermissionError) or getattr(error, "errno", 0) in {errno.EACCES, errno.EROFS}:
            return ConfigError(f"the store {self.url} does not let us at {name}: {what}")
        return StoreError(f"the store {self.url} failed at {name}: {what}")


def parsed(content: bytes, name: str) -> dict[str, Any]:
    """Read the content of an object that is JSON; raises `DamagedObjectError` where it is not."""
    try:
        value = json.loads(content)
    except ValueError as error:
        raise DamagedObjectError(name, f"is damaged: {error}") from None
    if not isinstance(value, dict):
        raise DamagedObjectError(name, "is damaged: it is not JSON object")
    return value
