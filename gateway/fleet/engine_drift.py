"""How an engine runs, by its own configuration or by its speed, against its entry in the file."""

from collections.abc import Iterator
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.capture import DEFAULT_MAX_NUM_SEQS
from gateway.config.timeouts import decode_speed
from gateway.config.vocabulary import Tier
from gateway.fleet.account import Account, EngineFacts
from gateway.fleet.difference import Difference, Found, Weight
from gateway.fleet.speed import eager_border_s
from gateway.words import Words

_GRAPH_REMEDY: Final = Words(
    "Look in its start-up log for --enforce-eager, a failed capture or `Compilation disabled`; "
    "or write tier: eager.",
    "请在启动日志中查找 --enforce-eager、捕获失败或 `Compilation disabled`；或写 tier: eager。",
)
_TELL_REMEDY: Final = Words(
    "Start it with VLLM_SERVER_DEV_MODE=1 where only the gateway can reach it, or look for "
    "`Capturing CUDA graphs` in its start-up log.",
    "可在只有网关能访问的环境中以 VLLM_SERVER_DEV_MODE=1 启动它，"
    "或在启动日志中查找 `Capturing CUDA graphs`。",
)


def completed(backend: BackendConfig, engine: EngineFacts | None) -> BackendConfig:
    """The backend with what the file leaves open filled in by the engine that runs."""
    if engine is None:
        return backend
    told = {"max_num_seqs": engine.max_num_seqs, "capture_sizes": engine.capture_sizes}
    return backend.model_copy(
        update={name: value for name, value in told.items() if value and not getattr(backend, name)}
    )


def engine_drift(backend: BackendConfig, engine: EngineFacts) -> Iterator[Found]:
    """What the engine's own configuration says otherwise than the file."""
    if engine.is_eager and backend.tier is Tier.GRAPH:
        yield Found(
            backend.name,
            Difference.EAGER_INSTEAD_OF_GRAPH,
            Weight.ERROR,
            Words(
                "it runs eager, the routing file promises graph",
                "它以 eager 方式运行，路由文件承诺的是 graph",
            ),
            _GRAPH_REMEDY,
        )
    elif engine.is_eager is False and backend.tier is Tier.EAGER:
        yield Found(
            backend.name,
            Difference.GRAPH_INSTEAD_OF_EAGER,
            Weight.NOTE,
            Words(
                "it uses graphs, the routing file says eager",
                "它使用图模式，路由文件写的是 eager",
            ),
            Words(
                "Write tier: graph and its capture_sizes; it will get more.",
                "请写 tier: graph 及其 capture_sizes；它会得到更多请求。",
            ),
        )
    if backend.tier is Tier.GRAPH and not engine.is_eager:
        yield from _sizes(backend, engine.capture_sizes)
    yield from _seqs(backend, engine.max_num_seqs)
    has, says = engine.tensor_parallel, backend.tensor_parallel
    if has is not None and says is not None and has != says:
        kind = Difference.OTHER_TENSOR_PARALLEL
        yield _number(backend, kind, Weight.NOTE, "tensor_parallel", has, says)


def _sizes(backend: BackendConfig, sizes: tuple[int, ...] | None) -> Iterator[Found]:
    """Sizes that the file does not give are good to know; sizes that differ cost speed."""
    if not sizes or sizes == backend.capture_sizes:
        return
    listed = f"[{', '.join(map(str, sizes))}]"
    said = ", ".join(map(str, backend.capture_sizes))
    told = Words(
        f"it captured the sizes {listed}, the routing file gives [{said}]",
        f"它捕获的尺寸是 {listed}，路由文件写的是 [{said}]",
    )
    if not said:
        told = Words(
            f"it captured the sizes {listed}, the routing file gives none",
            f"它捕获的尺寸是 {listed}，路由文件没有写",
        )
    yield Found(
        backend.name,
        Difference.OTHER_SIZES,
        Weight.WARNING if said else Weight.NOTE,
        told,
        Words(f"Write capture_sizes: {listed}.", f"请写 capture_sizes: {listed}。"),
    )


def _seqs(backend: BackendConfig, has: int | None) -> Iterator[Found]:
    """A number that is not given counts as the engine's default."""
    says, weight = backend.max_num_seqs, Weight.WARNING
    if says is None:
        says, weight = DEFAULT_MAX_NUM_SEQS, Weight.NOTE
    if has is not None and has != says:
        kind = Difference.OTHER_MAX_NUM_SEQS
        yield _number(backend, kind, weight, "max_num_seqs", has, backend.max_num_seqs)


def _number(
    backend: BackendConfig,
    kind: Difference,
    weight: Weight,
    field: str,
    has: int,
    says: int | None,
) -> Found:
    said = "nothing" if says is None else str(says)
    said_zh = "没有写" if says is None else f"写的是 {says}"
    return Found(
        backend.name,
        kind,
        weight,
        Words(
            f"its {field} is {has}, the routing file says {said}",
            f"它的 {field} 为 {has}，路由文件{said_zh}",
        ),
        Words(f"Write {field}: {has}.", f"请写 {field}: {has}。"),
    )


def speed_drift(
    backend: BackendConfig, account: Account, twin_tokens_per_s: float | None
) -> Iterator[Found]:
    """What the speed of a graph backend shows, where the engine does not tell its mode itself.

    Speed is a hint only, and only where both speeds are known and far enough apart.
    """
    is_told = account.engine is not None and account.engine.is_eager is not None
    if is_told or backend.tier is not Tier.GRAPH:
        return
    border_s = eager_border_s(backend, None if not twin_tokens_per_s else 1.0 / twin_tokens_per_s)
    rate = account.decode_tokens_per_s
    if border_s is None:
        yield _untold(
            backend,
            Words(
                "it does not tell, and the speeds of this model on this chip are not known well "
                "enough",
                "它没有说明，而该模型在此芯片上的速度也不够明确",
            ),
        )
    elif rate is None:
        yield _untold(
            backend,
            Words(
                "it does not tell, and its speed was not measured, since it was busy or did not "
                "generate in time, or was not to be measured",
                "它没有说明，也没有测到速度：它当时忙、未能及时生成，或者测速被关闭",
            ),
        )
    elif rate < 1.0 / border_s:
        yield _slow(backend, rate, twin_tokens_per_s)


def _untold(backend: BackendConfig, why: Words) -> Found:
    return Found(
        backend.name,
        Difference.TIER_UNTOLD,
        Weight.NOTE,
        Words(
            f"whether it uses graphs could not be told: {why.en}",
            f"无法判断它是否使用图模式：{why.zh}",
        ),
        _TELL_REMEDY,
    )


def _slow(backend: BackendConfig, rate: float, twin_rate: float | None) -> Found:
    promised = decode_speed(backend)
    told = Words(
        f"it makes {rate:.1f} tokens a second alone, where graphs give about {promised:.0f}: "
        "probably it runs eager",
        f"单个请求每秒只有 {rate:.1f} 个 token，图模式约为 {promised:.0f}：很可能在以 eager 运行",
    )
    if twin_rate is not None:
        told = Words(
            f"it makes {rate:.1f} tokens a second alone, hardly more than its eager twin with "
            f"{twin_rate:.1f}: probably it runs eager",
            f"单个请求每秒只有 {rate:.1f} 个 token，与 eager 的同模型后端（{twin_rate:.1f}）"
            "相差无几：很可能在以 eager 运行",
        )
    return Found(backend.name, Difference.PROBABLY_EAGER, Weight.WARNING, told, _GRAPH_REMEDY)
