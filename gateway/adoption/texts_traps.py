"""How every trap is told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.texts import Texts
from gateway.adoption.texts_traps_310p import TEXTS_310P
from gateway.adoption.texts_traps_containers import CONTAINER_TEXTS
from gateway.adoption.texts_traps_graph import GRAPH_TEXTS
from gateway.adoption.texts_traps_network import NETWORK_TEXTS
from gateway.adoption.texts_traps_npu import NPU_TEXTS
from gateway.adoption.texts_traps_options import OPTION_TEXTS
from gateway.adoption.texts_traps_running import RUNNING_TEXTS

TRAP_TEXTS: Final[Texts] = MappingProxyType(
    {
        **NPU_TEXTS,
        **NETWORK_TEXTS,
        **CONTAINER_TEXTS,
        **GRAPH_TEXTS,
        **TEXTS_310P,
        **OPTION_TEXTS,
        **RUNNING_TEXTS,
    }
)
