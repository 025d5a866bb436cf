"""How a gateway with HTTPS is reached, and what is said of a certificate that is not trusted."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
from click.testing import Result

from gateway.cli.columns import aligned
from gateway.cli.config_history import history
from tests.unit.api.test_admin_config import FakeControl
from tests.unit.cli.running import run, running


@dataclass(frozen=True)
class Secure:
    """A gateway with HTTPS whose certificate is for `gateway.example` alone."""

    port: int
    cert_file: Path
    ca_file: Path

    def ask(self, *words: str, url: str | None = None, **environment: str | None) -> Result:
        where = [] if url is None else ["--url", url.format(port=self.port)]
        return run(history, [*words, *where], **environment)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    issued = authority.issue_cert("gateway.example", "localhost")
    cert, key, ca = folder / "cert.pem", folder / "key.pem", folder / "ca.pem"
    authority.cert_pem.write_to_path(str(ca))
    issued.private_key_pem.write_to_path(str(key))
    for blob in issued.cert_chain_pems:
        blob.write_to_path(str(cert), append=True)
    with running(FakeControl(), ssl_certfile=str(cert), ssl_keyfile=str(key)) as port:
        yield Secure(port, cert, ca)


def test_a_certificate_that_is_not_trusted(secure: Secure) -> None:
    result = secure.ask(url="https://localhost:{port}")
    assert result.exit_code == 2
    for word in ("CERTIFICATE_VERIFY_FAILED", "--ca-file", "--insecure"):
        assert word in result.stderr
    assert "不校验证书" in secure.ask("--lang", "zh", url="https://localhost:{port}").stderr


@pytest.mark.parametrize(
    ("words", "url", "status"),
    [
        (["--ca-file", "CA"], "https://localhost:{port}", 0),
        (["--ca-file", "CA"], "https://127.0.0.1:{port}", 2),
        (["--insecure"], "https://127.0.0.1:{port}", 0),
        ([], "http://localhost:{port}", 2),
    ],
)
def test_trust_by_option(secure: Secure, words: list[str], url: str, status: int) -> None:
    known = [str(secure.ca_file) if word == "CA" else word for word in words]
    result = secure.ask(*known, url=url)
    assert result.exit_code == status, result.output


def test_the_gateway_of_this_machine_is_known_by_its_certificate(secure: Secure) -> None:
    own = {
        "ASCEND_GATEWAY_TLS_CERT_FILE": str(secure.cert_file),
        "ASCEND_GATEWAY_TLS_KEY_FILE": "/nowhere",
        "ASCEND_GATEWAY_PORT": str(secure.port),
    }
    result = secure.ask(**own)
    assert result.exit_code == 0, result.output
    assert secure.ask(**own, url="https://localhost:{port}").exit_code == 2, "only if it is asked"
    unreadable = {**own, "ASCEND_GATEWAY_TLS_CERT_FILE": "/nowhere"}
    assert "CERTIFICATE_VERIFY_FAILED" in secure.ask(**unreadable).stderr


def test_an_authority_that_can_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("no certificate")
    for name in ("ca", "nothing"):
        file = str(tmp_path / name)
        result = run(history, ["--ca-file", file, "--url", "https://localhost:1"])
        assert result.exit_code == 2
        assert f"--ca-file {file}: can't be used" in result.stderr


def test_columns_of_signs_that_are_two_wide() -> None:
    rows = [["序号", "when", ""], ["1", "晚上", "x"], ["10", "", ""]]
    assert aligned(rows) == "序号  when\n1     晚上  x\n10"
