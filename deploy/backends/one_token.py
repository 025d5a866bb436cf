#!/usr/bin/env python3
"""Says whether a vLLM engine makes tokens; exit status 0: yes, 1: no.

For HEALTHCHECK, Compose and a liveness probe, run inside the engine's container; needs only Python.
/health of vLLM answers 200 while the engine hangs, so this looks at what counts: do tokens come?

1. If the token counters of /metrics move by themselves, the engine works; it is asked for nothing.
2. Else it is asked for one token. An answer means that it works.
3. Without an answer in time the counters are read again: a full engine lets the question wait, and
   must not be restarted for that. Only silence on both counts as a failure.
"""

import json
import os
import re
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("ENGINE_URL", "http://127.0.0.1:8000").rstrip("/")
KEY_FILE = os.environ.get("ENGINE_KEY_FILE", "/run/vllm/engine.yaml")
WATCH_S = float(os.environ.get("ENGINE_WATCH_S", "3"))
ANSWER_S = float(os.environ.get("ENGINE_ANSWER_S", "30"))
SHORT_S = 5.0
COUNTER = re.compile(r"^vllm:(?:prompt|generation)_tokens_total(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


def key() -> str:
    """The engine's key, of a line `api-key: ...`; empty without one."""
    try:
        with open(KEY_FILE, encoding="utf-8") as file:
            found = re.search(r"^api-key:\s*(\S+)", file.read(), re.MULTILINE)
    except OSError:
        return ""
    return found.group(1).strip("\"'") if found else ""


def asked(path: str, limit_s: float, body: object = None) -> str:
    """What the engine answers; raises OSError, which an HTTP error is, too."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    if key():
        headers["authorization"] = f"Bearer {key()}"
    request = urllib.request.Request(URL + path, data, headers)
    with urllib.request.urlopen(request, timeout=limit_s) as answer:
        return str(answer.read(1 << 24), "utf-8", "replace")


def tokens() -> float:
    """Tokens read and made since the start, over all engines behind the port."""
    return sum(float(value) for value in COUNTER.findall(asked("/metrics", SHORT_S)))


def works() -> tuple[bool, str]:
    """Whether the engine makes tokens, and what was seen."""
    before = tokens()
    time.sleep(WATCH_S)
    if tokens() != before:
        return True, "tokens are being made"
    model = json.loads(asked("/v1/models", SHORT_S))["data"][0]["id"]
    question = {"model": model, "prompt": "1", "max_tokens": 1, "temperature": 0}
    try:
        asked("/v1/completions", ANSWER_S, question)
    except urllib.error.HTTPError as error:
        # A refusal comes from a living server; starting it anew would change nothing.
        return error.code < 500, f"asked for a token, it answers {error.code}"
    except OSError as error:
        moved = tokens() - before
        if moved:
            return True, f"no answer in {ANSWER_S:g} s, but {moved:g} tokens for others: busy"
        return False, f"no token in {ANSWER_S:g} s, for nobody: {error}"
    return True, "one token came"


def main() -> int:
    """Prints what was seen, for `docker inspect`."""
    try:
        is_good, seen = works()
    except urllib.error.HTTPError as error:
        is_good, seen = error.code < 500, f"{error.url} answers {error.code}"
    except (OSError, ValueError, LookupError, TypeError) as error:
        is_good, seen = False, f"{type(error).__name__}: {error}"
    print(seen)  # noqa: T201 - the log of the unit or container
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
