"""How traps with models and with the options of an engine are told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

OPTION_TEXTS: Final[Texts] = MappingProxyType(
    {
        Code.MAMBA_MODE_WRONG: Text(
            Severity.TRAP,
            Words(
                "--mamba-cache-mode {mode} with prefix caching; for {model} only align works",
                "启用前缀缓存时 --mamba-cache-mode 为 {mode}；{model} 只能用 align",
            ),
            Words("Use --mamba-cache-mode align.", "改为 --mamba-cache-mode align。"),
        ),
        Code.MAMBA_MODE_UNSET: Text(
            Severity.NOTE,
            Words(
                "prefix caching without --mamba-cache-mode; {model} needs align, which is the "
                "default of today",
                "启用了前缀缓存但没有写 --mamba-cache-mode；{model} 需要 align，目前正好是默认值",
            ),
            Words(
                "Add --mamba-cache-mode align, so that another version does the same.",
                "加上 --mamba-cache-mode align，换版本时行为才不会变。",
            ),
        ),
        Code.ALIGN_WITHOUT_CHUNKS: Text(
            Severity.TRAP,
            Words(
                "--mamba-cache-mode align needs chunked prefill, which is switched off",
                "--mamba-cache-mode align 需要 chunked prefill，而它被关闭了",
            ),
            Words(
                "Remove --no-enable-chunked-prefill.",
                "去掉 --no-enable-chunked-prefill。",
            ),
        ),
        Code.PREFIX_HITS_ZERO: Text(
            Severity.NOTE,
            Words(
                "its log shows a prefix cache hit rate of 0: normal for this hybrid model while "
                "prompts share less than one block of hundreds to thousands of tokens",
                "日志里前缀缓存命中率为 0：这类混合模型的一个块有几百到几千个 token，提示词的公共"
                "前缀不足一块时命中率为 0 是正常的",
            ),
            Words(
                "Nothing to mend. The block's size stands in the log: Setting attention block size "
                "to N tokens.",
                "无需处理。块大小见启动日志：Setting attention block size to N tokens。",
            ),
        ),
        Code.LONG_CONTEXT_ALLOWED: Text(
            Severity.NOTE,
            Words(
                "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1: max-model-len {length} may be more than the "
                "model was made for, and nothing warns of it",
                "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1：max-model-len {length} 可能超过模型本身支持的"
                "长度，且不会有任何提示",
            ),
            Words(
                "Compare with max_position_embeddings in the model's config.json; beyond it "
                "answers get worse.",
                "请与模型 config.json 里的 max_position_embeddings 对照；超出部分回答质量会下降。",
            ),
        ),
        Code.LONG_CONTEXT_REFUSED: Text(
            Severity.TRAP,
            Words(
                "max-model-len {length} is above the {own} of {model}: the engine does not start",
                "max-model-len {length} 超过 {model} 自身的 {own}：引擎无法启动",
            ),
            Words(
                "Use --max-model-len {own}, or export VLLM_ALLOW_LONG_MAX_MODEL_LEN=1.",
                "改为 --max-model-len {own}，或设置 VLLM_ALLOW_LONG_MAX_MODEL_LEN=1。",
            ),
        ),
        Code.SHARDED_FORMAT_MISSING: Text(
            Severity.TRAP,
            Words(
                "{model} looks like weights cut for one TP size, but the load format is {format}",
                "{model} 看上去是按 TP 切分好的权重，但加载格式是 {format}",
            ),
            Words("Add --load-format sharded_state.", "加上 --load-format sharded_state。"),
        ),
        Code.SHARDED_OTHER_WIDTH: Text(
            Severity.TRAP,
            Words(
                "{model} is cut for TP {width}, but the command says TP {tp}",
                "{model} 是按 TP {width} 切分的，启动命令里却是 TP {tp}",
            ),
            Words(
                "Use --tensor-parallel-size {width}, or the folder of TP {tp}.",
                "改为 --tensor-parallel-size {width}，或换成 TP {tp} 的目录。",
            ),
        ),
        Code.BATCHED_TOKENS_TOO_FEW: Text(
            Severity.TRAP,
            Words(
                "max_num_batched_tokens {tokens} is below max_num_seqs {seqs}: the engine does not "
                "start",
                "max_num_batched_tokens {tokens} 小于 max_num_seqs {seqs}：引擎无法启动",
            ),
            Words(
                "Raise --max-num-batched-tokens (2048 is the default), or lower --max-num-seqs.",
                "调大 --max-num-batched-tokens（默认 2048），或调小 --max-num-seqs。",
            ),
        ),
        Code.SERVED_NAME_MISSING: Text(
            Severity.NOTE,
            Words(
                "no --served-model-name: the engine answers only to {model}",
                "没有写 --served-model-name：引擎只认 {model} 这个名字",
            ),
            Words(
                "The gateway can give it a public name; or add --served-model-name.",
                "可以在网关里给它起对外的名字，或者加上 --served-model-name。",
            ),
        ),
        Code.SERVED_NAME_SHARED: Text(
            Severity.TRAP,
            Words(
                "{name} is {model} here, but {other_model} at {other}: one name, two models",
                "{name} 在这里是 {model}，在 {other} 却是 {other_model}：同一个名字两个模型",
            ),
            Words(
                "Give each model its own --served-model-name; requests would be spread over both.",
                "给每个模型不同的 --served-model-name，否则请求会混着分给两者。",
            ),
        ),
        Code.NAMES_DIFFER_IN_CASE: Text(
            Severity.TRAP,
            Words(
                "{name} differs from {other_name} of {other} only in the case of letters; to vLLM "
                "these are two names",
                "{name} 与 {other} 的 {other_name} 只有大小写不同；vLLM 视为两个名字",
            ),
            Words(
                "Write it in one way everywhere, or add both to --served-model-name.",
                "统一写法，或在 --served-model-name 里把两种都写上。",
            ),
        ),
        Code.OLD_ENTRY_POINT: Text(
            Severity.NOTE,
            Words(
                "started by the old module vllm.entrypoints.openai.api_server",
                "用旧入口 vllm.entrypoints.openai.api_server 启动",
            ),
            Words(
                "Use `vllm serve MODEL`; the options stay the same.",
                "改用 `vllm serve 模型`，选项不变。",
            ),
        ),
        Code.ALLOC_CONF_CONFLICT: Text(
            Severity.TRAP,
            Words(
                "PYTORCH_NPU_ALLOC_CONF={conf}: expandable_segments can't be used with {other}",
                "PYTORCH_NPU_ALLOC_CONF={conf}：expandable_segments 不能与 {other} 同时使用",
            ),
            Words(
                "Keep expandable_segments:True alone, or remove it.",
                "只保留 expandable_segments:True，或者去掉它。",
            ),
        ),
        Code.TOOL_OPTION_ALONE: Text(
            Severity.TRAP,
            Words(
                "{given} without {missing}: requests with tools are refused, or the engine does "
                "not start",
                "有 {given} 却没有 {missing}：带工具的请求会被拒绝，或引擎无法启动",
            ),
            Words("Add {missing}.", "加上 {missing}。"),
        ),
        Code.REASONING_UNPARSED: Text(
            Severity.NOTE,
            Words(
                "no --reasoning-parser: what {model} thinks ends up in the answer's content",
                "没有 --reasoning-parser：{model} 的思考过程会混进回答的 content",
            ),
            Words("Add --reasoning-parser {parser}.", "加上 --reasoning-parser {parser}。"),
        ),
        Code.DATA_PARALLEL_INSIDE: Text(
            Severity.NOTE,
            Words(
                "{engines} engines behind one port (data parallel): {seqs} requests at once each, "
                "and one with a prompt pulls the others out of their graphs",
                "一个端口后面有 {engines} 个引擎（数据并行）：每个并发 {seqs}，其中一个在处理提示词"
                "时会把其他引擎也拖出图模式",
            ),
            Words(
                "Good for MoE models; else start one server a replica with its own port, and let "
                "the gateway balance.",
                "MoE 模型可以这样用；其他模型建议每个副本单独起服务、用各自的端口，由网关均衡。",
            ),
        ),
    }
)
