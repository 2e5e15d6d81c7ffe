"""HTTPS over loopback, with a certificate that nobody vouches for."""

import datetime as dt
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from coati.live import StopReason
from tests.cli.commands import Coati, coati
from tests.live.crawling import crawl_from
from tests.live.scripted import Exchange, Script, file, page, pause, scripted
from tests.unread import unread_bytes

__all__ = ["coati"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    begin = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(begin + dt.timedelta(days=36_500))
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("certificate") / "server.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + signed.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def server(context: ssl.SSLContext) -> Iterator[Script]:
    with scripted({"/": page("/a.csv"), "/a.csv": file()}, context=context) as script:
        yield script


def test_a_certificate_need_not_be_sound_where_the_user_says_so(server: Script) -> None:
    crawled = crawl_from(server.start, verify_certificates=False)
    assert crawled.result.progress.targets == 1
    assert len({asked.client for asked in server.asked}) == 1


@pytest.mark.parametrize("robots", [True, False])
def test_a_certificate_is_verified(server: Script, *, robots: bool) -> None:
    crawled = crawl_from(server.start, robots=robots)
    assert crawled.result.stop is StopReason.START_UNREACHABLE
    assert crawled.result.first_failure == "no secure connection"
    assert server.asked == []


def test_the_command_says_how_to_ask_all_the_same(coati: Coati, server: Script) -> None:
    said = coati("crawl", server.start, "--delay", 0)
    assert said.code == 3
    assert "To crawl without checking the certificate: --limits verify_certificates=false" in said.err
    dry = coati("crawl", server.start, "--delay", 0, "--dry-run")
    assert dry.code == 3
    assert "To crawl without checking the certificate: --limits verify_certificates=false" in dry.err
    again = coati("crawl", server.start, "--delay", 0, "--limits", "verify_certificates=false")
    assert again.code == 0


def test_an_error_in_a_body_does_not_wait_for_a_server_that_does_not_hang_up(context: ssl.SSLContext) -> None:
    over = threading.Event()

    def broken(exchange: Exchange) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n"
        exchange.raw(head)
        while unread_bytes(exchange.connection):
            pause(0.001)
        exchange.raw(b"zz\r\n")
        over.wait(240)

    with scripted({"/": broken}, context=context) as server:
        crawled = crawl_from(
            server.start, robots=False, verify_certificates=False, download_timeout_seconds=200.0
        )
        over.set()
    assert crawled.observed[server.start]["reason"] == "response is not valid HTTP"
