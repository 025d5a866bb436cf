"""How differences between what is promised and what runs are told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

RUNNING_TEXTS: Final[Texts] = MappingProxyType(
    {
        Code.EAGER_THOUGH_GRAPH: Text(
            Severity.TRAP,
            Words(
                "it runs eager, though the command ({launch}) lets it use graphs (mode {promised})",
                "它实际走 eager，而启动命令（{launch}）是图模式（{promised}）",
            ),
            Words(
                "Look for a failed capture in its start-up log (ascend-gateway diagnose), or "
                "whether it was started by another script; until then it is tier: eager.",
                "在启动日志里找捕获失败的原因（ascend-gateway diagnose），或查看是否由另一个脚本"
                "启动；在此之前按 tier: eager 处理。",
            ),
        ),
        Code.EAGER_UNEXPLAINED: Text(
            Severity.NOTE,
            Words(
                "it runs eager, several times slower than with graphs, and no command tells "
                "whether that is meant",
                "它走 eager，比图模式慢几倍；没有启动命令可以说明是否有意如此",
            ),
            Words(
                "Give the command that starts it, too. Without --enforce-eager and with "
                "FULL_DECODE_ONLY it would use graphs, where the host can capture them.",
                "请把启动命令也提供进来。去掉 --enforce-eager 并使用 FULL_DECODE_ONLY，只要主机支持"
                "捕获，就能用图模式。",
            ),
        ),
        Code.CAPTURE_DIFFERS: Text(
            Severity.TRAP,
            Words(
                "the command says capture sizes {told}, but {running} are running",
                "启动命令的捕获尺寸是 {told}，实际运行的是 {running}",
            ),
            Words(
                "Start it anew with this command, or put the sizes that run into the routing file.",
                "用这个命令重启，或把实际的尺寸写进路由文件。",
            ),
        ),
        Code.CAPTURE_TRUNCATED: Text(
            Severity.TRAP,
            Words(
                "the engine cut its list of capture sizes at {largest} requests: from {above} on "
                "the whole batch runs eager (max_num_seqs {seqs})",
                "引擎把捕获尺寸截断到 {largest} 个请求：从 {above} 个起整批都走 eager"
                "（max_num_seqs {seqs}）",
            ),
            Words(
                "Use --max-num-seqs {largest}, or name the sizes with cudagraph_capture_sizes.",
                "改为 --max-num-seqs {largest}，或用 cudagraph_capture_sizes 指定尺寸。",
            ),
        ),
        Code.KV_BELOW_BATCH: Text(
            Severity.NOTE,
            Words(
                "its KV cache holds {ratio} requests of {length} tokens, while {batch} may run at "
                "once: with long prompts some are preempted and begin again",
                "KV 缓存只够 {ratio} 个 {length} token 的请求，而并发可达 {batch}：提示词较长时会有"
                "请求被抢占后从头再来",
            ),
            Words(
                "Fine for short prompts. Else shorten --max-model-len, raise "
                "--gpu-memory-utilization, or lower --max-num-seqs.",
                "短提示词没有问题；否则缩短 --max-model-len、调高 --gpu-memory-utilization，或调小 "
                "--max-num-seqs。",
            ),
        ),
        Code.NAME_MISSING: Text(
            Severity.TRAP,
            Words(
                "{url} does not list {names}; it lists {lists}",
                "{url} 没有列出 {names}；它列出的是 {lists}",
            ),
            Words(
                "Another server answers there, or it was started by another command: compare the "
                "port and --served-model-name.",
                "那里可能是另一个服务，或者是用别的命令启动的：请核对端口和 --served-model-name。",
            ),
        ),
        Code.OTHER_VERSION: Text(
            Severity.TRAP,
            Words(
                "version {running} is running, while its image is {image}",
                "实际运行的版本是 {running}，而镜像是 {image}",
            ),
            Words(
                "The container was made from another image, or another server answers there; check "
                "with `docker inspect`.",
                "容器可能来自别的镜像，或者那里是另一个服务；请用 `docker inspect` 核对。",
            ),
        ),
    }
)
