"""/emulator/…: looking into an emulated backend and making it fail, over HTTP."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from gateway.emulator import jsontext
from gateway.emulator.faults import Fault, FaultBoard, fault_json, parse_fault
from gateway.emulator.state import ServerState
from gateway.emulator.wire import Exchange, HttpRequest

_JSON = ("content-type: application/json",)


class Controlled(Protocol):
    """What can be controlled."""

    faults: FaultBoard

    @property
    def live(self) -> ServerState:
        """The live parts."""

    def set_fault(self, fault: Fault) -> None:
        """Have a fault from now on."""

    def clear_faults(self) -> None:
        """Be healthy again."""


def answer_control(backend: Controlled, request: HttpRequest, exchange: Exchange) -> None:
    """GET /emulator/state; GET, POST and DELETE /emulator/faults."""
    status, body = _act(backend, request)
    exchange.send(status, jsontext.dumpb(body), _JSON)


def _act(backend: Controlled, request: HttpRequest) -> tuple[int, Mapping[str, Any]]:
    match request.method, request.path:
        case "GET", "/emulator/state":
            return 200, backend.live.snapshot()
        case "GET", "/emulator/faults":
            return 200, {"faults": [fault_json(fault) for fault in backend.faults.all()]}
        case "POST", "/emulator/faults":
            try:
                fault = parse_fault(json.loads(request.body))
            except (ValueError, TypeError, AttributeError) as error:
                return 400, {"error": str(error)}
            backend.set_fault(fault)
            return 200, {"set": fault_json(fault)}
        case "DELETE", "/emulator/faults":
            backend.clear_faults()
            return 200, {"cleared": True}
    return 404, {"error": "use /emulator/state or /emulator/faults"}
