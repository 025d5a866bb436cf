"""How traps with graphs and their sizes are told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

GRAPH_TEXTS: Final[Texts] = MappingProxyType(
    {
        Code.SEQS_ABOVE_CAPTURE: Text(
            Severity.TRAP,
            Words(
                "max_num_seqs {seqs} with capture sizes {sizes}: from {above} running requests on "
                "the whole batch runs eager, several times slower for all",
                "max_num_seqs 为 {seqs}，捕获尺寸为 {sizes}：从 {above} 个并发请求起，整批都走 "
                "eager，所有请求都会慢几倍",
            ),
            Words(
                "This pays most: --max-num-seqs {largest}, so that the rest waits at the gateway; "
                'or capture the full batch: "cudagraph_capture_sizes": {better}.',
                "最划算的改法：--max-num-seqs {largest}，多余的请求在网关排队；或者捕获满批："
                '"cudagraph_capture_sizes": {better}。',
            ),
        ),
        Code.SEQS_NOT_GIVEN: Text(
            Severity.TRAP,
            Words(
                "no --max-num-seqs, so the engine takes up to {seqs} requests at once, with "
                "capture sizes {sizes}: from {above} on the whole batch runs eager",
                "没有写 --max-num-seqs，引擎默认最多并发 {seqs} 个请求，而捕获尺寸为 {sizes}："
                "从 {above} 个起整批都走 eager",
            ),
            Words(
                "Add --max-num-seqs {largest}; the rest waits at the gateway, which keeps to "
                "{largest} until then.",
                "加上 --max-num-seqs {largest}，多余的请求在网关排队；在此之前网关只按 {largest} "
                "个并发使用它。",
            ),
        ),
        Code.SEQS_OFF_GRID: Text(
            Severity.TRAP,
            Words(
                "max_num_seqs {seqs} is none of the sizes that the engine captures by itself "
                "({sizes}): {above} to {seqs} running requests run wholly eager",
                "max_num_seqs {seqs} 不在引擎默认捕获的尺寸里（{sizes}）：并发 {above} 到 {seqs} 时"
                "整批都走 eager",
            ),
            Words(
                "Use --max-num-seqs {largest} or the next of 1, 2, 4, 8, 16, 24, ...; or name the "
                'sizes: "cudagraph_capture_sizes" with {seqs} in it.',
                "改为 --max-num-seqs {largest}，或取 1、2、4、8、16、24…… 中更大的一个；也可以在 "
                '"cudagraph_capture_sizes" 里写上 {seqs}。',
            ),
        ),
        Code.CAPTURE_UNREACHABLE: Text(
            Severity.TRAP,
            Words(
                "capture sizes {above} are never used: {seqs} requests make at most {full} tokens "
                "a step. What is left is {usable}, and larger batches run eager",
                "捕获尺寸 {above} 永远用不上：{seqs} 个请求每步最多 {full} 个 token。能用的只有 "
                "{usable}，更大的批次走 eager",
            ),
            Words(
                "Replace them by {full}, or raise --max-num-seqs. Each size costs memory and time "
                "at start.",
                "换成 {full}，或调大 --max-num-seqs。每个尺寸都会占内存、拖慢启动。",
            ),
        ),
        Code.CAPTURE_TOO_MANY: Text(
            Severity.TRAP,
            Words(
                "{count} capture sizes {sizes} with tensor parallel {tp} on 310P, whose event ids "
                "are enough for two: capture may fail at start",
                "310P 上张量并行 {tp} 却有 {count} 个捕获尺寸 {sizes}：硬件 event id 只够两个，"
                "启动时可能捕获失败",
            ),
            Words(
                'Keep two: "cudagraph_capture_sizes": {better}.',
                '只保留两个："cudagraph_capture_sizes": {better}。',
            ),
        ),
        Code.CAPTURE_OFF_STEP: Text(
            Severity.TRAP,
            Words(
                "with {speculated} speculated tokens each request takes {tokens} tokens of a step, "
                "and capture sizes {off} are no multiples of it",
                "每步投机 {speculated} 个 token 时，每个请求占 {tokens} 个 token，而捕获尺寸 {off} "
                "不是它的倍数",
            ),
            Words(
                '"cudagraph_capture_sizes": {right}: requests times {tokens}.',
                '"cudagraph_capture_sizes": {right}：请求数乘以 {tokens}。',
            ),
        ),
        Code.CAPTURE_MAX_DISAGREES: Text(
            Severity.TRAP,
            Words(
                "max_cudagraph_capture_size {largest} is not the largest of the capture sizes "
                "{sizes}: the engine does not start",
                "max_cudagraph_capture_size {largest} 与捕获尺寸 {sizes} 的最大值不一致："
                "引擎无法启动",
            ),
            Words(
                "Remove max_cudagraph_capture_size; the sizes say it already.",
                "去掉 max_cudagraph_capture_size，尺寸列表已经说明了。",
            ),
        ),
        Code.EAGER_BESIDE_GRAPH: Text(
            Severity.TRAP,
            Words(
                "{option} beside a compilation config with {graphs}: {option} wins, it runs eager",
                "{option} 与编译配置 {graphs} 同时出现：以 {option} 为准，实际走 eager",
            ),
            Words(
                "Remove {option} for graphs, or the compilation config if eager is meant.",
                "想用图模式就去掉 {option}；本来就想用 eager，就去掉编译配置。",
            ),
        ),
        Code.LAUNCH_BLOCKING: Text(
            Severity.TRAP,
            Words(
                "ASCEND_LAUNCH_BLOCKING=1 excludes graphs: the engine does not start",
                "ASCEND_LAUNCH_BLOCKING=1 与图模式冲突：引擎无法启动",
            ),
            Words(
                "Unset it (it is for debugging), or add --enforce-eager.",
                "取消该变量（它只用于调试），或加 --enforce-eager。",
            ),
        ),
    }
)
