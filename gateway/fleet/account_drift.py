"""What a server says of itself, when it is asked, against what the routing file says of it."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.fleet.account import Account, TroubleKind
from gateway.fleet.difference import Difference, Found, Weight
from gateway.fleet.engine_drift import engine_drift, speed_drift
from gateway.fleet.reconcile import Drift, DriftKind, reconcile
from gateway.words import Words

_FROM_LIST: Final[Mapping[DriftKind, tuple[Difference, Weight]]] = MappingProxyType(
    {
        DriftKind.NAME_MISSING: (Difference.NAME_MISSING, Weight.ERROR),
        DriftKind.REFUSED_NAME: (Difference.NAME_MISSING, Weight.ERROR),
        DriftKind.OTHER_ROOT: (Difference.OTHER_ROOT, Weight.ERROR),
        DriftKind.SHORTER_CONTEXT: (Difference.SHORTER_CONTEXT, Weight.WARNING),
    }
)
_RUNS_THERE: Final = Words(
    "Check that the server runs, and that the host and port of url are the published ones (not "
    "those inside its container).",
    "请确认服务正在运行，且 url 的主机和端口是对外发布的（不是容器内部的）。",
)
_FROM_TROUBLE: Final[Mapping[TroubleKind, tuple[Difference, Words]]] = MappingProxyType(
    {
        TroubleKind.BAD_URL: (Difference.UNREACHABLE, _RUNS_THERE),
        TroubleKind.REFUSED: (Difference.UNREACHABLE, _RUNS_THERE),
        TroubleKind.UNREACHABLE: (Difference.UNREACHABLE, _RUNS_THERE),
        TroubleKind.TIMEOUT: (
            Difference.UNREACHABLE,
            Words(
                "It may hang, or be starting, or a firewall may drop what is sent to it: ask it "
                "with curl from the machine of the gateway; a longer --timeout helps a slow one.",
                "它可能卡死或正在启动，也可能被防火墙丢包：请在网关所在机器上用 curl 访问；"
                "如果只是慢，可调大 --timeout。",
            ),
        ),
        TroubleKind.TLS: (
            Difference.TLS_FAILED,
            Words(
                "Compare the scheme of url with what the server speaks, and tls.ca_file and "
                "tls.server_name with its certificate.",
                "请核对 url 的协议与服务是否一致，"
                "以及 tls.ca_file、tls.server_name 与其证书是否相符。",
            ),
        ),
        TroubleKind.UNHEALTHY: (
            Difference.UNHEALTHY,
            Words(
                "Look in its log (`ascend-gateway diagnose` explains it); a proxy between must "
                "pass /health on.",
                "请查看其日志（可用 `ascend-gateway diagnose` 解释）；"
                "如果中间有代理，须放行 /health。",
            ),
        ),
        TroubleKind.KEY_REFUSED: (
            Difference.KEY_REFUSED,
            Words(
                "Give the server's --api-key with api_key_env or api_key_file of the backend.",
                "请用该后端的 api_key_env 或 api_key_file 指定服务的 --api-key。",
            ),
        ),
        TroubleKind.NOT_VLLM: (
            Difference.NOT_VLLM,
            Words(
                "Another program listens there: correct url.", "该地址上是其他程序：请改正 url。"
            ),
        ),
    }
)


def differences(
    backend: BackendConfig,
    served_names: frozenset[str],
    account: Account,
    twin_tokens_per_s: float | None = None,
) -> tuple[Found, ...]:
    """Every difference, the worst first; `served_names` are those that models ask it for.

    `twin_tokens_per_s` is the measured speed of an eager backend of the same model, if known: by
    it the speed of a graph backend can be judged on any chip.
    """
    found = [*_of_asking(backend, account)]
    if account.cards is not None:
        drifts = reconcile(backend, served_names, account.cards)
        found += [_of_list(backend, drift) for drift in drifts]
    if account.engine is not None:
        found += engine_drift(backend, account.engine)
    if account.failure is None:
        found += speed_drift(backend, account, twin_tokens_per_s)
    order = list(Weight)
    return tuple(sorted(found, key=lambda one: order.index(one.weight)))


def _of_asking(backend: BackendConfig, account: Account) -> Iterator[Found]:
    if account.failure is not None:
        kind, remedy = _FROM_TROUBLE[account.failure.kind]
        yield Found(backend.name, kind, Weight.ERROR, account.failure.told, remedy)
    elif account.cards is None:
        yield Found(
            backend.name,
            Difference.LIST_UNREADABLE,
            Weight.ERROR,
            Words("its /v1/models can't be read", "它的 /v1/models 无法读取"),
            Words(
                "Check that url leads to the API of a vLLM server.",
                "请确认 url 指向 vLLM 服务的 API。",
            ),
        )


def _of_list(backend: BackendConfig, drift: Drift) -> Found:
    kind, weight = _FROM_LIST[drift.kind]
    return Found(backend.name, kind, weight, drift.told, drift.remedy)
