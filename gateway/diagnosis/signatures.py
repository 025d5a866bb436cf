"""All known errors of vLLM and vLLM-Ascend.

The sources are named where the errors stand: signatures_site.py, signatures_capture.py,
signatures_engine.py, signatures_vllm.py. Numbers there are issues and pull requests of the public
repositories named with them.
"""

from typing import Final

from gateway.diagnosis.signature import Rank, Scope, Signature
from gateway.diagnosis.signatures_capture import CAPTURE
from gateway.diagnosis.signatures_engine import ENGINE
from gateway.diagnosis.signatures_site import SITE
from gateway.diagnosis.signatures_vllm import VLLM

__all__ = ["SIGNATURES", "Rank", "Scope", "Signature"]

SIGNATURES: Final[tuple[Signature, ...]] = (*SITE, *CAPTURE, *ENGINE, *VLLM)
