"""What vLLM says: engine processes that end, requests that fail, transfers of KV blocks.

Sources: vllm-project/vllm, v1/engine/exceptions.py, v1/engine/core.py, v1/engine/utils.py,
v1/executor/multiproc_executor.py, distributed/device_communicators/shm_broadcast.py, exceptions.py,
entrypoints; vllm-project/vllm-ascend, kv_transfer/kv_p2p/mooncake_connector.py, issues 2264, 2404,
4866, 5509, 5635, 5660, 5699, 7401, 7792, 7846, 9254, 10401, 13628.
"""

from typing import Final

from gateway.diagnosis.signature import Rank, Scope, Signature
from gateway.words import Words

VLLM: Final = (
    Signature(
        id="model_unknown",
        all_needles=("the model ", "does not exist"),
        pattern=r"\bthe model [`'\"\\]{1,2}[^`'\"\s]{1,300}[`'\"\\]{1,2} does not exist",
        scope=Scope.REQUEST,
        layer="vLLM API",
        rank=Rank.REQUEST,
        cause=Words(
            "The request names a model that this server does not serve: a name other than the "
            "served name (letters count, large or small), a container's name, or the wrong port.",
            "请求里的模型名不是这个服务提供的：与 served name 不一致（区分大小写）、误用了容器名，"
            "或者端口不对。",
        ),
        remedy=Words(
            "Ask `GET /v1/models` on that very port and use an `id` from it.",
            "对同一个端口请求 `GET /v1/models`，使用其中的 `id`。",
        ),
    ),
    Signature(
        id="context_exceeded",
        needles=(
            "this model's maximum context length is",
            "exceeds model's maximum context length",
        ),
        scope=Scope.REQUEST,
        layer="vLLM API",
        rank=Rank.REQUEST + 1,
        cause=Words(
            "The prompt, or prompt and answer together, are longer than the server's context.",
            "提示词，或提示词加回答的长度，超过了服务的上下文长度。",
        ),
        remedy=Words(
            "Shorten the request or max_tokens; a larger --max-model-len costs memory.",
            "缩短请求或调小 max_tokens；调大 --max-model-len 会占用更多显存。",
        ),
    ),
    Signature(
        id="transfer_failed",
        needles=(
            "mooncake transfer failed",
            "transfer slice failed with status",
            "failed to connect to target:",
            "status: 103900",
        ),
        scope=Scope.REQUEST,
        layer="Mooncake",
        rank=Rank.REQUEST + 2,
        cause=Words(
            "The decode side could not fetch the KV blocks from the prefill side, which was not "
            "reachable or too slow. Old releases went on with nonsense as text.",
            "解码侧没能从预填充侧取到 KV 块：对端不可达或超时。旧版本会继续输出乱码。",
        ),
        remedy=Words(
            "Check that the prefill server lives and that its transfer ports are open between the "
            "hosts; raise ASCEND_CONNECT_TIMEOUT if connecting takes long; send the request again "
            "with a new id.",
            "确认预填充服务存活、主机之间的传输端口互通；建链慢时调大 ASCEND_CONNECT_TIMEOUT；"
            "用新的请求 id 重发。",
        ),
    ),
    Signature(
        id="transfer_expired",
        needles=("force freed expired request",),
        scope=Scope.REQUEST,
        layer="Mooncake",
        rank=Rank.REQUEST + 3,
        cause=Words(
            "Nobody fetched the KV blocks of a prefilled request in time, so that they were freed "
            "(480 s unless set otherwise).",
            "预填充完的请求迟迟没有人来取 KV 块，到时限后被释放（默认 480 秒）。",
        ),
        remedy=Words(
            "Look for clients that left between prefill and decode, and at the decode servers; "
            "VLLM_MOONCAKE_ABORT_REQUEST_TIMEOUT is the time.",
            "查是否有客户端在预填充与解码之间断开，并检查解码服务；时限由 "
            "VLLM_MOONCAKE_ABORT_REQUEST_TIMEOUT 设定。",
        ),
    ),
    Signature(
        id="transfer_unknown_request",
        needles=("assert req_id in self.requests",),
        scope=Scope.ENGINE,
        layer="vLLM scheduler",
        rank=Rank.CHIP + 6,
        cause=Words(
            "The end of a KV transfer came for a request that the prefill server no longer knows; "
            "request ids that were used twice do it too.",
            "预填充服务收到了一个它已不认识的请求的 KV 传输完成通知；请求 id 重复也会造成。",
        ),
        remedy=Words(
            "Send a unique X-Request-Id with each request; start the server again and upgrade.",
            "每个请求使用唯一的 X-Request-Id；重启该服务并升级版本。",
        ),
    ),
    Signature(
        id="generation_failed",
        all_needles=("internal server error",),
        pattern=r"(?:^\s*|[\"']|generationerror: )internal server error(?:[\"'.]|\s*$)",
        scope=Scope.REQUEST,
        layer="vLLM API",
        rank=Rank.SYMPTOM + 6,
        cause=Words(
            "The engine gave this one request up, for instance because its KV blocks could not "
            "be loaded.",
            "引擎放弃了这一个请求，例如它的 KV 块加载失败。",
        ),
        remedy=Words(
            "Send it again. With KV transfer look for its error before this one.",
            "重发请求。若用了 KV 传输，查此前的传输错误。",
        ),
    ),
    Signature(
        id="worker_gone",
        needles=("died unexpectedly, shutting down", "died unexpectedly (exit code"),
        scope=Scope.ENGINE,
        layer="vLLM executor",
        rank=Rank.SYMPTOM + 3,
        cause=Words(
            "A process of the engine vanished: ended by the kernel for want of host memory, or by "
            "a fault of the device.",
            "引擎的某个进程消失了：可能因主机内存不足被内核结束，也可能是设备故障。",
        ),
        remedy=Words(
            "Look with `dmesg` for the OOM killer, and for device errors before this line; raise "
            "the container's memory if it was that.",
            "用 `dmesg` 查看是否触发 OOM killer，并查此前的设备错误；若是前者，加大容器内存。",
        ),
    ),
    Signature(
        id="worker_hung",
        needles=("rpc call to execute_model timed out", "rpc call to sample_tokens timed out"),
        scope=Scope.ENGINE,
        layer="vLLM executor",
        rank=Rank.SYMPTOM + 4,
        cause=Words(
            "A step of the model did not come back in time (300 s; 3000 s from 0.23 on): a worker "
            "hangs.",
            "模型的一步迟迟没有返回（300 秒；0.23 起为 3000 秒）：worker 卡死。",
        ),
        remedy=Words(
            "Start the server again. Look for device or HCCL errors in the logs of all ranks; if a "
            "long first compilation was the reason, raise VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS.",
            "重启服务。在所有 rank 的日志里查设备或 HCCL 错误；若只是首次编译太久，调大 "
            "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS。",
        ),
    ),
    Signature(
        id="workers_busy",
        needles=("no available shared memory broadcast block found",),
        scope=Scope.DEGRADED,
        layer="vLLM",
        rank=Rank.SYMPTOM + 5,
        cause=Words(
            "The workers were busy for a whole minute: a long compilation or prompt, or the start "
            "of a hang. If it repeats, it is a hang.",
            "worker 整整一分钟没空：可能在编译或处理很长的提示词，也可能刚开始卡死。反复出现就是"
            "卡死。",
        ),
        remedy=Words(
            "Once during startup or a very long prompt: wait. Again and again with no tokens: "
            "start the server again.",
            "启动阶段或超长提示词时出现一次：等待即可。反复出现且没有输出：重启服务。",
        ),
    ),
    Signature(
        id="startup_failed",
        needles=(
            "engine core initialization failed",
            "enginecore failed to start",
            "workerproc failed to start",
        ),
        scope=Scope.STARTUP,
        layer="vLLM",
        rank=Rank.FALLOUT + 2,
        cause=Words(
            "The engine did not start; the reason stands in earlier lines.",
            "引擎没有启动成功；原因在更早的日志里。",
        ),
        remedy=Words(
            "Look at the first error above it.",
            "看它上面的第一个错误。",
        ),
    ),
    Signature(
        id="engine_fatal",
        needles=("enginecore encountered a fatal error",),
        scope=Scope.ENGINE,
        layer="vLLM",
        rank=Rank.FALLOUT + 3,
        cause=Words(
            "The engine ended with an exception; its traceback follows this line.",
            "引擎因异常退出；这一行后面就是它的调用栈。",
        ),
        remedy=Words(
            "Read the end of the traceback; start the server again.",
            "看调用栈的最后几行；重启服务。",
        ),
    ),
    Signature(
        id="engine_dead",
        needles=("enginecore encountered an issue", "enginedeaderror"),
        scope=Scope.ENGINE,
        layer="vLLM",
        rank=Rank.FALLOUT + 4,
        cause=Words(
            "The API server noticed that its engine is dead. Running requests end with 500 or an "
            "error in the stream, and the server exits within seconds.",
            "API 服务发现引擎已死。正在处理的请求会得到 500 或流内错误，几秒后服务退出。",
        ),
        remedy=Words(
            "The cause is in the lines before; start the server again.",
            "原因在更早的日志里；重启服务。",
        ),
    ),
)
