"""The certificate a gateway listens with: what is refused, and how another takes its place."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import trustme
import uvloop
from cryptography.hazmat.primitives import serialization

from gateway.api.certificate import Certificate

HOST = "127.0.0.1"
Runner = Callable[[Coroutine[Any, Any, None]], None]


class Files:
    """A certificate and its key on disk, issued by an authority of its own."""

    def __init__(self, folder: Path) -> None:
        self.authority = trustme.CA()
        self.cert_file = folder / "tls.crt"
        self.key_file = folder / "tls.key"
        self.issue()

    def issue(self) -> None:
        """Write another pair."""
        pair = self.authority.issue_cert(HOST, "gateway.test")
        self.cert_file.write_bytes(b"".join(pem.bytes() for pem in pair.cert_chain_pems))
        self.key_file.write_bytes(pair.private_key_pem.bytes())

    def load(self) -> Certificate:
        return Certificate(self.cert_file, self.key_file)

    def client(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.authority.configure_trust(context)
        return context


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


async def shown(certificate: Certificate, client: ssl.SSLContext, name: str) -> int:
    """The serial number of the certificate that a client sees now."""

    async def goodbye(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(goodbye, HOST, 0, ssl=certificate.context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection(HOST, port, ssl=client, server_hostname=name)
        serial = int(writer.get_extra_info("peercert")["serialNumber"], 16)
        assert await reader.read() == b""
        writer.close()
        return serial


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("name", [HOST, "gateway.test"])
def test_another_certificate_takes_its_place(
    files: Files, run: Runner, version: ssl.TLSVersion, name: str
) -> None:
    async def change() -> None:
        certificate, client = files.load(), files.client()
        client.maximum_version = version
        first = await shown(certificate, client, name)
        files.issue()
        assert await shown(certificate, client, name) == first
        certificate.reload()
        second = await shown(certificate, client, name)
        assert second != first
        files.key_file.write_bytes(trustme.CA().issue_cert(HOST).private_key_pem.bytes())
        with pytest.raises(ValueError, match="is not the key"):
            certificate.reload()
        assert await shown(certificate, client, name) == second

    run(change())


def test_old_protocols_are_refused(files: Files) -> None:
    assert files.load().context.minimum_version is ssl.TLSVersion.TLSv1_2


def without_certificate(files: Files) -> Path:
    files.cert_file.write_text("nothing\n")
    return files.cert_file


def cut_certificate(files: Files) -> Path:
    files.cert_file.write_bytes(files.cert_file.read_bytes()[:200])
    return files.cert_file


def key_in_place_of_the_certificate(files: Files) -> Path:
    files.cert_file.write_bytes(files.key_file.read_bytes())
    return files.cert_file


def certificate_in_place_of_the_key(files: Files) -> Path:
    files.key_file.write_bytes(files.cert_file.read_bytes())
    return files.key_file


def cut_key(files: Files) -> Path:
    files.key_file.write_bytes(files.key_file.read_bytes()[:80])
    return files.key_file


def key_of_another(files: Files) -> Path:
    files.key_file.write_bytes(trustme.CA().issue_cert(HOST).private_key_pem.bytes())
    return files.key_file


def key_with_password(files: Files) -> Path:
    key = serialization.load_pem_private_key(files.key_file.read_bytes(), None)
    files.key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    return files.key_file


def empty_key(files: Files) -> Path:
    files.key_file.write_bytes(b"")
    return files.key_file


def no_key(files: Files) -> Path:
    files.key_file.unlink()
    return files.key_file


def folder_for_certificate(files: Files) -> Path:
    files.cert_file.unlink()
    files.cert_file.mkdir()
    return files.cert_file


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without_certificate, "holds no certificate"),
        (key_in_place_of_the_certificate, "holds no certificate"),
        (cut_certificate, "can't be used"),
        (certificate_in_place_of_the_key, "holds no private key"),
        (empty_key, "holds no private key"),
        (cut_key, "can't be used"),
        (key_of_another, "is not the key of the first certificate"),
        (key_with_password, "protected by a password"),
        (no_key, "can't be read: No such file"),
        (folder_for_certificate, "can't be read: Is a directory"),
    ],
)
def test_what_cannot_be_used_is_named(
    files: Files, spoil: Callable[[Files], Path], said: str
) -> None:
    file = spoil(files)
    with pytest.raises((ValueError, OSError), match=said) as caught:
        files.load()
    assert str(file) in str(caught.value)
    assert not isinstance(caught.value, ssl.SSLError)
    assert "PRIVATE KEY-----\n" not in str(caught.value)
