"""What the engine refuses by its own words, and exceptions while the chip computes.

Sources: vllm-project/vllm-ascend, platform.py, _310p/attention and _310p/model_runner_310p.py by
branch, docs/source/faqs.md (question 13), issues 1038, 2349, 2763, 3868, 4972, 5509, 7394, 10299,
10720, 12724, 14802, 16049, 16652; vllm-project/vllm, config/vllm.py; InternLM/lmdeploy issue 3354.
"""

from typing import Final

from gateway.diagnosis.signature import Rank, Scope, Signature, coded
from gateway.words import Words

ENGINE: Final = (
    Signature(
        id="attention_not_on_310p",
        needles=("is not supported for 310p currently",),
        scope=Scope.ENGINE,
        layer="vllm-ascend",
        rank=Rank.REFUSAL,
        cause=Words(
            "Speculative decoding on 310P with a release that can't do it (up to 0.20.2). The "
            "server starts and looks healthy, then dies at the first decode. Quantisation is not "
            "the reason.",
            "在不支持的版本（0.20.2 及以前）上对 310P 开启了投机解码。服务能启动、看起来正常，"
            "第一次解码时才崩溃。与量化无关。",
        ),
        remedy=Words(
            "Remove --speculative-config (and --speculative-model), or use 0.21.0rc1 or newer, "
            "better 0.23.",
            "去掉 --speculative-config（以及 --speculative-model），或升级到 0.21.0rc1 以上，"
            "最好是 0.23。",
        ),
    ),
    Signature(
        id="role_not_on_310p",
        needles=(
            "kv cache transfer is not supported for 310p",
            "mlaattention is not supported for 310p",
            "deepseek sparse attention is not supported for 310p",
        ),
        scope=Scope.STARTUP,
        layer="vllm-ascend",
        rank=Rank.REFUSAL + 1,
        cause=Words(
            "310P can't do this: no prefill-decode disaggregation, no MLA models, no sparse "
            "attention of DeepSeek.",
            "310P 不支持：PD 分离、MLA 类模型、DeepSeek 稀疏注意力都不行。",
        ),
        remedy=Words(
            "Remove --kv-transfer-config, or serve this model on A2 or A3.",
            "去掉 --kv-transfer-config，或者把该模型放到 A2、A3 上。",
        ),
    ),
    Signature(
        id="graph_with_launch_blocking",
        needles=("acl graph is incompatible with ascend_launch_blocking",),
        scope=Scope.STARTUP,
        layer="vllm-ascend",
        rank=Rank.REFUSAL,
        cause=Words(
            "ASCEND_LAUNCH_BLOCKING=1 is set, a switch for debugging that rules out graphs.",
            "设置了调试开关 ASCEND_LAUNCH_BLOCKING=1，它与图模式互斥。",
        ),
        remedy=Words(
            "Unset it; to debug with it, add --enforce-eager.",
            "取消该变量；需要用它调试时加 --enforce-eager。",
        ),
    ),
    Signature(
        id="capture_sizes_disagree",
        needles=("customized max_cudagraph_capture_size",),
        scope=Scope.STARTUP,
        layer="vLLM",
        rank=Rank.REFUSAL,
        cause=Words(
            "max_cudagraph_capture_size and cudagraph_capture_sizes are both given and disagree.",
            "同时给了 max_cudagraph_capture_size 和 cudagraph_capture_sizes，而且两者不一致。",
        ),
        remedy=Words(
            "Give only the list, or make the maximum equal to its largest size.",
            "只写尺寸列表，或让最大值等于列表里最大的尺寸。",
        ),
    ),
    Signature(
        id="hybrid_without_graph",
        needles=("gdnattentionmetadatabuilder' object has no attribute 'aclgraph_support'",),
        scope=Scope.STARTUP,
        layer="vllm-ascend",
        rank=Rank.REFUSAL + 1,
        is_capture=True,
        cause=Words(
            "This old release (0.11) can't use graphs for hybrid models such as Qwen3-Next.",
            "这个旧版本（0.11）对 Qwen3-Next 一类的混合模型不支持图模式。",
        ),
        remedy=Words(
            "Upgrade, or use --enforce-eager.",
            "升级版本，或用 --enforce-eager。",
        ),
    ),
    Signature(
        id="mla_heads_unsupported",
        needles=("mla only support {32, 64, 128}",),
        scope=Scope.STARTUP,
        layer="operator tiling",
        rank=Rank.REFUSAL + 2,
        cause=Words(
            "In graph mode MLA takes 32, 64 or 128 query heads for each KV head; after the tensor "
            "parallel split this model has another number.",
            "图模式下 MLA 要求每个 KV 头对应 32、64 或 128 个查询头；张量并行切分后不满足。",
        ),
        remedy=Words(
            "Choose a tensor parallel size that keeps it within these, or use --enforce-eager.",
            "换一个能满足该条件的张量并行数，或用 --enforce-eager。",
        ),
    ),
    Signature(
        id="capture_sizes_truncated",
        needles=("truncating max_cudagraph_capture_size to",),
        scope=Scope.DEGRADED,
        layer="vLLM",
        rank=Rank.HINT,
        cause=Words(
            "The largest captured size became smaller than asked for. Batches above it run eager "
            "as a whole and are several times slower.",
            "实际捕获的最大尺寸比要求的小。批大小超过它时整批走 eager，会慢好几倍。",
        ),
        remedy=Words(
            "Make --max-num-seqs equal to a size that is captured; the grid is 1, 2, 4, then "
            "steps of 8, from 256 on steps of 16.",
            "让 --max-num-seqs 等于某个会被捕获的尺寸：1、2、4，之后每 8 一档，256 以上每 16 "
            "一档。",
        ),
    ),
    Signature(
        id="core_exception",
        needles=(
            *coded(507035),
            *coded(507015),
            "vector core exception",
            "vector core execution is abnormal",
            "aicore execution is abnormal",
            "aicore exception",
            "there is an error of aicore",
            "aivec error",
            "aivector error",
        ),
        scope=Scope.ENGINE,
        layer="NPU",
        rank=Rank.CHIP,
        cause=Words(
            "A kernel went wrong on a core of the chip (illegal access or arguments): a fault of "
            "an operator, seldom of the hardware.",
            "计算核执行算子时出错（非法访问或参数）：通常是算子的缺陷，少数是硬件问题。",
        ),
        remedy=Words(
            "Start the server again. If it returns with the same kernel_name: upgrade or report "
            "that operator; if on one chip only, check and reset it with npu-smi.",
            "重启服务。若同一个 kernel_name 反复出现，升级版本或上报该算子；若只在一颗芯片上"
            "出现，用 npu-smi 检查并复位。",
        ),
    ),
    Signature(
        id="aicpu_exception",
        needles=(*coded(507018), "aicpu execution is abnormal", "aicpu exception"),
        scope=Scope.ENGINE,
        layer="NPU",
        rank=Rank.CHIP + 1,
        cause=Words(
            "An operator on the chip's own CPU went wrong.",
            "运行在芯片 AI CPU 上的算子出错。",
        ),
        remedy=Words(
            "Start the server again; if it returns, check the chip with npu-smi and the versions "
            "of driver and CANN.",
            "重启服务；若再次出现，用 npu-smi 检查芯片，并核对驱动与 CANN 版本。",
        ),
    ),
    Signature(
        id="aicore_timeout",
        needles=(*coded(507014), "aicore execution times out", "aicore timeout"),
        scope=Scope.ENGINE,
        layer="NPU",
        rank=Rank.CHIP + 3,
        cause=Words(
            "A kernel or an operation between the chips did not end in time.",
            "某个算子或芯片间的通信超时未结束。",
        ),
        remedy=Words(
            "Start the server again and look at the health of all its chips with npu-smi; if a "
            "rank failed earlier, its error is the reason.",
            "重启服务，用 npu-smi 查看全部芯片的健康状态；若更早有某个 rank 报错，以那个错误为准。",
        ),
    ),
    Signature(
        id="vector_core_timeout",
        needles=(*coded(507034), "vector core execution timed out", "vector core timeout"),
        scope=Scope.ENGINE,
        layer="NPU",
        rank=Rank.CHIP + 4,
        cause=Words(
            "A vector kernel did not end in time; also what a rank sees that waits for one which "
            "never came, for instance after a port conflict of HCCL.",
            "向量核上的算子超时；也可能是在等一个始终没有就绪的 rank，例如 HCCL 端口冲突之后。",
        ),
        remedy=Words(
            "Rule out port conflicts and several processes on one NPU, then start again and check "
            "npu-smi.",
            "先排除端口冲突和多个进程共用一个 NPU，再重启并用 npu-smi 检查。",
        ),
    ),
    Signature(
        id="rank_silent",
        needles=(
            "notify register times out",
            "(ei0002)",
            "ei0002:",
            "hccl fftsplus task timeout",
        ),
        scope=Scope.ENGINE,
        layer="HCCL",
        rank=Rank.CHIP + 5,
        cause=Words(
            "A rank stopped answering; the others waited for it until the time was over "
            "(HCCL_EXEC_TIMEOUT, 1836 s).",
            "有一个 rank 不再响应，其余 rank 一直等到超时（HCCL_EXEC_TIMEOUT，默认 1836 秒）。",
        ),
        remedy=Words(
            "Find the rank that does not report this error and look at its log; check the links "
            "between the chips; start all ranks again.",
            "找出没有报此错误的那个 rank，看它的日志；检查芯片间链路；全部 rank 重新启动。",
        ),
    ),
    Signature(
        id="hccl_watchdog",
        needles=("hccl watchdog thread terminated with exception",),
        scope=Scope.ENGINE,
        layer="torch_npu",
        rank=Rank.FALLOUT,
        cause=Words(
            "The watchdog of the collectives ended the process after an error on the chip.",
            "芯片出错之后，集合通信的看门狗结束了进程。",
        ),
        remedy=Words(
            "Look at the first error of any rank before it.",
            "看在它之前任一 rank 的第一个错误。",
        ),
    ),
)
