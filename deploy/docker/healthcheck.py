"""Exit status 0 while the gateway of this container lives; for HEALTHCHECK, without curl.

Asks /livez, not /readyz: a gateway without a usable backend must not be restarted for that. Reads
the same variables as the gateway; flags of `serve` that change port or TLS are not seen here.
"""

import http.client
import os
import ssl
import sys

TIMEOUT_S = 4.0
ANY_ADDRESS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}


def status() -> int:
    """The HTTP status of /livez; raises OSError or HTTPException where there is none."""
    host = os.environ.get("ASCEND_GATEWAY_HOST", "127.0.0.1").strip()
    host = ANY_ADDRESS.get(host, host)
    port = int(os.environ.get("ASCEND_GATEWAY_PORT", "8000"))
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    if os.environ.get("ASCEND_GATEWAY_TLS_CERT_FILE"):
        # The certificate names the service, not this loopback address.
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=context)
    connection.request("GET", "/livez")
    return connection.getresponse().status


def main() -> int:
    """0 when it lives, else 1 with a reason for `docker inspect`."""
    try:
        found = status()
    except (OSError, ValueError, http.client.HTTPException) as error:
        sys.stderr.write(f"/livez: {error}\n")
        return 1
    if found != http.client.OK:
        sys.stderr.write(f"/livez: HTTP {found}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
