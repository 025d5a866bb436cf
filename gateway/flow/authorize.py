"""First step: who is calling."""

from gateway.access.keys import Keyring
from gateway.flow.call import Call


def authorize(call: Call, keys: Keyring) -> None:
    """Sets the caller; raises `Refusal` if keys are set and the request's is none of them."""
    call.caller = keys.authorize(call.headers)
