"""A user and a password as a header for one origin; they are never stored, nor shown in an error."""

from __future__ import annotations

from pathlib import Path

from coati.errors import ConfigError
from coati.live.origin_headers import basic_authorisation
from coati.web.urls import normalise, origin_of, userinfo_of

_MAX_PASSWORD_FILE_BYTES = 64 * 1024


def authorisation(user: str, password_file: str, start_url: str) -> str:
    """Return the header of a user, as ``ORIGIN Authorization: ...``; ``user`` is ``NAME`` or ``HOST NAME``.

    Without a host it is for the origin of the start URL, which has to be one of a website then.
    """
    host, _, name = user.strip().rpartition(" ")
    if not name or not password_file:
        raise ConfigError("--user and --password-file go together: the file's first line is the password")
    if ":" in name:
        raise ConfigError(
            "a user name cannot contain a colon: write the password into a file and name it with"
            " --password-file"
        )
    scheme = start_url.partition(":")[0] if start_url.startswith("http") else "https"
    named = (host if "://" in host else f"{scheme}://{host}") if host else start_url
    url = normalise(named.strip())
    if url is None or not url.startswith("http"):
        raise ConfigError("the user name needs a host: --user 'HOST NAME'")
    origin, header, value = basic_authorisation(origin_of(url), name, _password_in(Path(password_file)))
    return f"{origin} {header}: {value}"


def header_of_address(address: str) -> str | None:
    """Return what the user and password of an address become: a header for its origin; None without any."""
    url, userinfo = normalise(address), userinfo_of(address)
    if url is None or userinfo is None:
        return None
    origin, header, value = basic_authorisation(origin_of(url), *userinfo)
    return f"{origin} {header}: {value}"


def _password_in(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            line = opened.read(_MAX_PASSWORD_FILE_BYTES).partition(b"\n")[0]
        password = line.decode("utf-8-sig").rstrip("\r")
    except OSError as error:
        raise ConfigError(f"password_file: {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"password_file: {file} is not text in UTF-8") from None
    if not password:
        raise ConfigError(f"password_file: {file} has no password in its first line")
    return password
