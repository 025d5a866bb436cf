"""The name of a backend that does not depend on a routing file: its address."""

import re
from urllib.parse import quote


def server_key(base_url: str) -> str:
    """How all gateways call the server at `base_url`, whatever their files call it.

    Without the scheme, and without braces, which have a meaning in keys of Redis.
    """
    return quote(re.sub(r"^https?://", "", base_url.rstrip("/")), safe="/:.-_~[]@")
