"""Stores to test with: in memory, in a folder, and in an S3 server on this machine."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from coati.fleet.objects import ObjectStore


@pytest.fixture(scope="session")
def s3_bucket() -> Iterator[str]:
    """Serve S3 on loopback, with one bucket, and say in the environment how it is reached."""
    import s3fs
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        s3fs.S3FileSystem(use_listings_cache=False).mkdir("fleet")
        yield "s3://fleet"
    server.stop()


@pytest.fixture
def s3_url(s3_bucket: str) -> str:
    """Return a place of the test's own in the bucket."""
    return f"{s3_bucket}/{uuid.uuid4().hex}"


@pytest.fixture(params=["memory", "folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """Return an empty store of each kind."""
    if request.param == "memory":
        return ObjectStore(f"memory://{uuid.uuid4().hex}")
    if request.param == "folder":
        return ObjectStore(str(tmp_path / "store"))
    return ObjectStore(request.getfixturevalue("s3_url"))


@pytest.fixture
def memory() -> ObjectStore:
    """Return an empty store in memory."""
    return ObjectStore(f"memory://{uuid.uuid4().hex}")
