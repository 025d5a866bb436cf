"""How the connections to a backend are secured, by its entry in the routing file."""

from gateway.config.backend import BackendConfig
from gateway.upstream.origin import TlsOptions


def tls_of(backend: BackendConfig) -> TlsOptions | None:
    """The options of an https backend; None for http."""
    if not backend.base_url.startswith("https:"):
        return None
    given = backend.tls
    if given is None:
        return TlsOptions()
    return TlsOptions(
        ca_file=given.ca_file,
        cert_file=given.cert_file,
        key_file=given.key_file,
        server_name=given.server_name,
        verify=given.verify,
    )
