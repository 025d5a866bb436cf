"""Errors while graphs are captured. The same server often runs with --enforce-eager.

Sources: vllm-project/vllm-ascend, docs/source/faqs.md (questions 13, 17), compilation/acl_graph.py,
worker/model_runner_v1.py, platform.py, hardwares/310p.md, issues and pull requests 2629, 3868,
6002, 8393, 9564, 9596, 10309, 10640, 12113, 12983, 12989, 14347, 14566, 15536, 16072, 16667, 17041;
a start log from Kylin desktop with Atlas 300I Duo; vllm-project/vllm, config/vllm.py.
"""

from typing import Final

from gateway.diagnosis.signature import Rank, Scope, Signature, coded
from gateway.words import Words

CAPTURE: Final = (
    Signature(
        id="capture_host_copy",
        needles=("pageable memory copy task does not support graph capture",),
        scope=Scope.STARTUP,
        layer="RTS",
        rank=Rank.CAPTURE,
        is_capture=True,
        cause=Words(
            "A copy from ordinary host memory ran while a graph was captured, which the runtime "
            "does not do. Seen on Kylin desktop with 310P, where the host's software and the "
            "driver do not go together.",
            "捕获图的过程中发生了普通主机内存的拷贝，运行时不支持。已知出现在麒麟桌面版加 310P "
            "的机器上，主机系统与驱动不匹配。",
        ),
        remedy=Words(
            "Serve with --enforce-eager here, or move to a server edition of the OS with the "
            "matching HDK; the same card captures there.",
            "本机先用 --enforce-eager 运行；要用图模式，请换服务器版系统并安装配套的 HDK，"
            "同样的卡在那里可以捕获。",
        ),
    ),
    Signature(
        id="capture_stream_unknown",
        needles=(
            "aclrtallocatorgetbystream failed",
            "stream is not registered with any allocator",
        ),
        scope=Scope.STARTUP,
        layer="ACL",
        rank=Rank.CHIP + 9,
        # Logged beside every exception of a core, too; there it means nothing.
        yields_to=("core_exception",),
        is_capture=True,
        cause=Words(
            "ACL does not know the stream that memory is asked for. While graphs are captured: "
            "they do not work on this host (known: Kylin desktop with 310P).",
            "ACL 不认识申请内存的那条 stream。若发生在捕获图时，说明这台主机用不了图模式"
            "（已知有麒麟桌面版加 310P）。",
        ),
        remedy=Words(
            "Serve with --enforce-eager, or move to a supported server OS with the matching HDK.",
            "用 --enforce-eager 运行，或换受支持的服务器系统并安装配套的 HDK。",
        ),
    ),
    Signature(
        id="capture_synchronised",
        needles=(
            *coded(107027),
            "not allow to synchronize captured-stream",
            "stream is captured",
        ),
        scope=Scope.STARTUP,
        layer="RTS",
        rank=Rank.CAPTURE + 1,
        is_capture=True,
        cause=Words(
            "The host waited for the chip in the middle of a capture. Typical for speculative "
            "decoding (MTP) together with graphs on 310P up to 0.23.0rc1.",
            "捕获图的过程中主机去等待设备。常见于 0.23.0rc1 及以前的 310P 同时开启投机解码"
            "（MTP）和图模式。",
        ),
        remedy=Words(
            "Remove --speculative-config, or keep it and use --enforce-eager; or upgrade.",
            "去掉 --speculative-config；或者保留它并加 --enforce-eager；或者升级版本。",
        ),
    ),
    Signature(
        id="capture_copy_refused",
        needles=(
            "error code is 107030",
            "error code:107030",
            "error code: 107030",
            "runtime result = 107030",
        ),
        scope=Scope.STARTUP,
        layer="RTS",
        rank=Rank.SYMPTOM,
        is_capture=True,
        cause=Words(
            "A memory copy was refused while a graph was captured or replayed. Often it follows a "
            "wait inside the capture; also seen at replay when memory is tight.",
            "捕获或重放图时内存拷贝被拒绝。往往是捕获中发生同步之后的连带错误；显存紧张时"
            "重放也会出现。",
        ),
        remedy=Words(
            "Remove --speculative-config or use --enforce-eager; at replay, leave more memory free "
            "(lower --gpu-memory-utilization).",
            "去掉 --speculative-config 或用 --enforce-eager；若发生在重放时，调低 "
            "--gpu-memory-utilization 留出显存。",
        ),
    ),
    Signature(
        id="capture_copy_logged",
        needles=("errcode=107030", "the current capture mode does not support this operation"),
        scope=Scope.BENIGN,
        layer="RTS",
        rank=Rank.BENIGN,
        yields_to=("capture_copy_refused", "capture_synchronised"),
        cause=Words(
            "The runtime logged a refused copy during capture, but nobody raised it. Some "
            "operators (mla_preprocess, batch_matmul_transpose) do that in every start.",
            "运行时日志里记录了捕获期间被拒绝的拷贝，但没有抛出错误。有些算子"
            "（mla_preprocess、batch_matmul_transpose）每次启动都会这样。",
        ),
        remedy=Words(
            "Nothing to do as long as the server answers.",
            "只要服务能正常回答，就不用处理。",
        ),
    ),
    Signature(
        id="capture_streams_exhausted",
        needles=(
            *coded(207008),
            "insufficient_stream_resources",
            "stream resources are insufficient",
            "driver error:no stream resource",
        ),
        scope=Scope.STARTUP,
        layer="ACL",
        rank=Rank.CAPTURE + 2,
        is_capture=True,
        cause=Words(
            "The graphs need more streams than the chip has: too many capture sizes, or the "
            "PIECEWISE mode with a deep model.",
            "要捕获的图需要的 stream 超过芯片所能提供的：捕获尺寸太多，或者模型层数多又用 "
            "PIECEWISE 模式。",
        ),
        remedy=Words(
            "Capture fewer and smaller sizes, use FULL_DECODE_ONLY, or update HDK and CANN.",
            "减少捕获尺寸的个数和大小，改用 FULL_DECODE_ONLY，或升级 HDK 和 CANN。",
        ),
    ),
    Signature(
        id="capture_old_driver",
        needles=("alloc sq cq fail",),
        scope=Scope.STARTUP,
        layer="driver",
        rank=Rank.CAPTURE + 3,
        is_capture=True,
        cause=Words(
            "The driver has no more queues for streams; older HDKs allow too few for graphs. The "
            "words about memory or storage beside it mislead.",
            "驱动的 stream 队列用完了；旧版 HDK 给图模式的配额太少。旁边关于内存或存储空间的"
            "说法会误导人。",
        ),
        remedy=Words(
            "Update the HDK to 25.5.1 or newer with the matching CANN; until then capture fewer "
            "sizes or use --enforce-eager.",
            "把 HDK 升级到 25.5.1 以上并配套 CANN；在此之前减少捕获尺寸或用 --enforce-eager。",
        ),
    ),
    Signature(
        id="capture_stream_refused",
        needles=("create capture stream failed", "new capture stream failed"),
        scope=Scope.STARTUP,
        layer="driver",
        rank=Rank.CAPTURE + 4,
        is_capture=True,
        cause=Words(
            "Event or stream ids ran out during capture.",
            "捕获图时 event 或 stream 的编号用完了。",
        ),
        remedy=Words(
            "Capture fewer sizes; on A2 and A3 also HCCL_OP_EXPANSION_MODE=AIV (not on 310P).",
            "减少捕获尺寸；A2、A3 上还可设置 HCCL_OP_EXPANSION_MODE=AIV（310P 不支持）。",
        ),
    ),
    Signature(
        id="driver_resources_exhausted",
        needles=(*coded(207005), "driver error:resource alloc fail", "failed to apply for memory"),
        scope=Scope.STARTUP,
        layer="driver",
        rank=Rank.CAPTURE + 5,
        yields_to=("capture_old_driver", "capture_stream_refused", "capture_streams_exhausted"),
        is_capture=True,
        cause=Words(
            "The driver could not give what was asked for; during capture that is streams or "
            "events, not memory.",
            "驱动拿不出所申请的资源；捕获图时缺的是 stream 或 event，而不是内存。",
        ),
        remedy=Words(
            "Capture fewer sizes or update the HDK. If it comes without graphs, look at the memory "
            "of the chip with `npu-smi info`.",
            "减少捕获尺寸或升级 HDK。没有开图模式却出现时，用 `npu-smi info` 查看芯片显存。",
        ),
    ),
    Signature(
        id="capture_invalidated",
        needles=(
            *coded(107033),
            "an error has invalidated the stream capture sequence",
            "aclmdlricaptureend",
        ),
        scope=Scope.STARTUP,
        layer="RTS",
        rank=Rank.SYMPTOM + 1,
        is_capture=True,
        cause=Words(
            "An operation inside the capture failed and spoilt it. Without an earlier error: on "
            "310P with tensor parallelism more than two capture sizes are the classic reason.",
            "捕获过程中某个操作失败，整段捕获作废。若前面没有别的错误：310P 开张量并行又配置了"
            "两个以上捕获尺寸，是最典型的原因。",
        ),
        remedy=Words(
            "On 310P with TP above 1 name at most two sizes, for instance [1, 8]; else look for "
            "the first error of the capture.",
            "310P 且 TP 大于 1 时最多写两个尺寸，例如 [1, 8]；否则查捕获期间的第一个错误。",
        ),
    ),
    Signature(
        id="capture_resources_told",
        needles=(
            "acl graph capture failed with a known stream-resource exhaustion",
            "acl graph capture failed with an old ascend hdk/cann stack",
        ),
        scope=Scope.STARTUP,
        layer="vllm-ascend",
        rank=Rank.SYMPTOM + 2,
        is_capture=True,
        cause=Words(
            "vllm-ascend recognised that a capture failed for want of stream resources.",
            "vllm-ascend 已识别出：捕获失败是因为 stream 资源不足。",
        ),
        remedy=Words(
            "Fewer and smaller capture sizes, FULL_DECODE_ONLY, HDK 25.5.1 or newer; "
            "--enforce-eager proves that nothing else is wrong.",
            "减少捕获尺寸，用 FULL_DECODE_ONLY，HDK 升级到 25.5.1 以上；用 --enforce-eager 可以"
            "确认没有别的问题。",
        ),
    ),
    Signature(
        id="capture_wrapped",
        needles=("npumodelrunner failed, error is",),
        scope=Scope.STARTUP,
        layer="vllm-ascend",
        rank=Rank.FALLOUT,
        is_capture=True,
        cause=Words(
            "Capturing the graphs failed; the reason is the text behind these words.",
            "捕获图失败；真正的原因在这句话后面的文字里。",
        ),
        remedy=Words(
            "Read the nested text. --enforce-eager avoids the capture.",
            "看后面嵌套的错误文字。加 --enforce-eager 可绕过捕获。",
        ),
    ),
    Signature(
        id="runner_wrapped",
        needles=("npumodelrunner init failed, error is",),
        scope=Scope.STARTUP,
        layer="vllm-ascend",
        rank=Rank.FALLOUT + 1,
        yields_to=("capture_wrapped",),
        cause=Words(
            "Setting up the model runner failed; the reason is the text behind these words.",
            "模型运行器初始化失败；真正的原因在这句话后面的文字里。",
        ),
        remedy=Words(
            "Read the nested text and the lines before it.",
            "看后面嵌套的错误文字以及之前的日志。",
        ),
    ),
)
