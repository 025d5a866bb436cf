"""Build the TLS context of one backend from its options."""

import ssl

from gateway.upstream.origin import TlsOptions


def build_context(options: TlsOptions) -> ssl.SSLContext:
    """A client context; raises OSError or ssl.SSLError where a file can't be used.

    Reads files, so it belongs in a thread, not in the event loop.
    """
    context = ssl.create_default_context(cafile=options.ca_file)
    context.set_alpn_protocols(["http/1.1"])
    if not options.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if options.cert_file is not None:
        context.load_cert_chain(options.cert_file, options.key_file)
    return context
