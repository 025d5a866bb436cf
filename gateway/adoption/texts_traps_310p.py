"""How traps of Atlas 300I Duo (310P) are told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

TEXTS_310P: Final[Texts] = MappingProxyType(
    {
        Code.CHIP_UNTOLD: Text(
            Severity.NOTE,
            Words(
                "no source tells the chip; it looks like a 310P, where these would be found, too: "
                "{codes}",
                "没有来源说明芯片型号；看上去像 310P，若是，还有这些问题：{codes}",
            ),
            Words(
                "Give the `docker run` command or the image as well, or write chip: 310P in the "
                "routing file.",
                "把 `docker run` 命令或镜像名也提供进来，或在路由文件里写 chip: 310P。",
            ),
        ),
        Code.GRAPH_MODE_310P: Text(
            Severity.TRAP,
            Words(
                "graphs run in mode {mode}; on 310P only FULL_DECODE_ONLY is documented",
                "图模式为 {mode}；310P 上文档支持的只有 FULL_DECODE_ONLY",
            ),
            Words(
                'Add --compilation-config \'{{"cudagraph_mode": "FULL_DECODE_ONLY"}}\'.',
                '加上 --compilation-config \'{{"cudagraph_mode": "FULL_DECODE_ONLY"}}\'。',
            ),
        ),
        Code.SPECULATION_310P: Text(
            Severity.TRAP,
            Words(
                "speculative decoding ({method}) on 310P with version {version}: before 0.21 the "
                "server starts, and its engine dies at the first request",
                "310P 上使用投机解码（{method}），版本 {version}：0.21 之前服务能启动，但第一个"
                "请求就会让引擎崩溃",
            ),
            Words(
                "Remove --speculative-config, or move to 0.23.0 or newer.",
                "去掉 --speculative-config，或升级到 0.23.0 及以上。",
            ),
        ),
        Code.SPECULATION_WITH_PREFIX_310P: Text(
            Severity.TRAP,
            Words(
                "speculative decoding ({method}) with prefix caching on 310P ({version}): answers "
                "may be garbage, with status 200",
                "310P 上同时使用投机解码（{method}）和前缀缓存（{version}）：可能返回乱码，而状态码"
                "仍是 200",
            ),
            Words(
                "Use --no-enable-prefix-caching, or remove --speculative-config.",
                "改用 --no-enable-prefix-caching，或去掉 --speculative-config。",
            ),
        ),
        Code.AIV_310P: Text(
            Severity.TRAP,
            Words(
                "HCCL_OP_EXPANSION_MODE=AIV is not supported on 310P",
                "310P 不支持 HCCL_OP_EXPANSION_MODE=AIV",
            ),
            Words("Unset it: it is for A2 and A3.", "去掉它：这是给 A2/A3 用的。"),
        ),
        Code.DTYPE_310P: Text(
            Severity.TRAP,
            Words(
                "dtype {dtype} on 310P, which has no bfloat16",
                "310P 上 dtype 为 {dtype}，而 310P 不支持 bfloat16",
            ),
            Words("Add --dtype float16.", "加上 --dtype float16。"),
        ),
        Code.SSM_DTYPE_310P: Text(
            Severity.TRAP,
            Words(
                "mamba-ssm-cache-dtype {dtype} for {model} on 310P, which takes float16 only",
                "310P 上 {model} 的 mamba-ssm-cache-dtype 为 {dtype}，而 310P 只支持 float16",
            ),
            Words(
                "Add --mamba-ssm-cache-dtype float16.",
                "加上 --mamba-ssm-cache-dtype float16。",
            ),
        ),
        Code.FUSE_NORM_QUANT_310P: Text(
            Severity.TRAP,
            Words(
                "fuse_norm_quant is not switched off; 310P needs that before 0.23.0, and this is "
                "{version}",
                "没有关闭 fuse_norm_quant；310P 在 0.23.0 之前必须关闭，当前版本是 {version}",
            ),
            Words(
                "Add --additional-config "
                '\'{{"ascend_compilation_config": {{"fuse_norm_quant": false}}}}\'.',
                "加上 --additional-config "
                '\'{{"ascend_compilation_config": {{"fuse_norm_quant": false}}}}\'。',
            ),
        ),
        Code.UNSUPPORTED_310P: Text(
            Severity.TRAP,
            Words("{asked} is not supported on 310P", "310P 不支持 {asked}"),
            Words(
                "Remove it, or serve this on A2 or A3.",
                "去掉它，或改在 A2/A3 上部署。",
            ),
        ),
        Code.NOT_LISTED_310P: Text(
            Severity.NOTE,
            Words(
                "{model} is in the official list for 310P from 0.23.0rc1; this is {version}",
                "{model} 从 0.23.0rc1 起才列入 310P 的官方支持列表；当前版本是 {version}",
            ),
            Words(
                "It may run well; plan the move to 0.23.0 or newer before it goes into production.",
                "可能运行正常；投入生产前请计划升级到 0.23.0 及以上。",
            ),
        ),
        Code.CONTEXT_UNSET_310P: Text(
            Severity.TRAP,
            Words(
                "no --max-model-len on 310P: the model's own length counts, and its attention mask "
                "takes 2 bytes x length² on each NPU (before 0.23.0, later with older torch_npu)",
                "310P 上没有写 --max-model-len：会按模型自身的长度，注意力掩码在每个 NPU 上占 "
                "2 字节 × 长度²（0.23.0 之前；之后 torch_npu 较旧时也一样）",
            ),
            Words(
                "Add --max-model-len; 16384 costs 0.5 GB, 32768 2.1 GB, 53248 5.7 GB.",
                "加上 --max-model-len；16384 占 0.5 GB，32768 占 2.1 GB，53248 占 5.7 GB。",
            ),
        ),
        Code.MASK_MEMORY_310P: Text(
            Severity.NOTE,
            Words(
                "max-model-len {length} costs {mask_gb} GB of attention mask on each NPU, beside "
                "weights and KV cache (310P before 0.23.0)",
                "max-model-len {length} 会在每个 NPU 上额外占 {mask_gb} GB 注意力掩码，不计入权重"
                "和 KV 缓存（310P，0.23.0 之前）",
            ),
            Words(
                "Use the shortest --max-model-len that your prompts need; half the length is a "
                "quarter of the mask.",
                "按实际需要取最短的 --max-model-len；长度减半，掩码降到四分之一。",
            ),
        ),
        Code.MEMORY_OVERCOMMITTED_310P: Text(
            Severity.TRAP,
            Words(
                "gpu-memory-utilization {ratio} and {mask_gb} GB of attention mask for "
                "max-model-len {length} are more than the {npu_gb} GB of an NPU",
                "gpu-memory-utilization {ratio} 加上 max-model-len {length} 的 {mask_gb} GB 注意力"
                "掩码，超过了单个 NPU 的 {npu_gb} GB",
            ),
            Words(
                "Lower it to --gpu-memory-utilization {better}, or shorten --max-model-len.",
                "降到 --gpu-memory-utilization {better}，或缩短 --max-model-len。",
            ),
        ),
    }
)
