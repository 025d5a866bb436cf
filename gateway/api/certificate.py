"""The certificate that the gateway shows to its clients, and how another takes its place."""

import ssl
from pathlib import Path
from typing import Final, NoReturn

_CERTIFICATE: Final = b"-----BEGIN CERTIFICATE-----"
_PRIVATE_KEY: Final = b"PRIVATE KEY-----"


class Certificate:
    """A certificate with its key, and `context`, with which a server listens.

    The context stays the same for the life of the server. At each handshake it hands over to the
    newest one that could be loaded whole, since loading into a context that is in use would leave
    it without a key when the two files do not belong together.
    """

    def __init__(self, cert_file: Path, key_file: Path) -> None:
        """Raises OSError or ValueError, which say what is wrong with which file."""
        self._cert_file = cert_file
        self._key_file = key_file
        self._newest = self.context = _context(cert_file, key_file)
        self.context.sni_callback = self._hand_over

    def __repr__(self) -> str:
        return f"<Certificate {self._cert_file}>"

    def reload(self) -> None:
        """Reads both files again, for the connections that come.

        Raises OSError or ValueError like the constructor; then the last good one stays in use.
        Reads files; safe in a thread beside the event loop.
        """
        self._newest = _context(self._cert_file, self._key_file)

    def _hand_over(
        self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext
    ) -> None:
        # OpenSSL calls this for every ClientHello, with a server name in it or not.
        connection.context = self._newest


def _context(cert_file: Path, key_file: Path) -> ssl.SSLContext:
    if _CERTIFICATE not in _content(cert_file):
        raise ValueError(
            f"{cert_file} holds no certificate; it must be PEM text with "
            f"{_CERTIFICATE.decode()} in it, the server's own certificate first, then its chain"
        )
    if _PRIVATE_KEY not in _content(key_file):
        raise ValueError(
            f"{key_file} holds no private key; it must be PEM text with "
            f"-----BEGIN {_PRIVATE_KEY.decode()} in it"
        )

    def no_password() -> NoReturn:
        # Without this, OpenSSL would ask at the terminal and wait.
        raise ValueError(
            f"{key_file} is protected by a password; write the key without one, with "
            "`openssl pkey -in FILE -out NEW_FILE`, and protect it by its file mode"
        )

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(cert_file, key_file, password=no_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ValueError(
                f"{key_file} is not the key of the first certificate in {cert_file}; give the two "
                "that were made together, the server's own certificate first, then its chain"
            ) from error
        reason = (error.reason or str(error)).replace("_", " ").lower()
        raise ValueError(
            f"the certificate {cert_file} with the key {key_file} can't be used: {reason}; check "
            "with `openssl x509 -in CERT -noout -text` and `openssl pkey -in KEY -noout -check`"
        ) from error
    return context


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise OSError(f"{file} can't be read: {error.strerror or error}") from error
