"""How contradictions between sources, and guesses made while merging them, are told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

MERGING: Final[Texts] = MappingProxyType(
    {
        Code.SOURCES_DISAGREE: Text(
            Severity.CONTRADICTION,
            Words(
                "{field}: {one} in {here}, {other} in {there}",
                "{field} 不一致：{here} 中是 {one}，{there} 中是 {other}",
            ),
            Words(
                "The first one was taken. Find out which is right and mend the other source.",
                "已采用前一个。请确认哪个正确，并修正另一处。",
            ),
        ),
        Code.MODEL_AT_TWO_PORTS: Text(
            Severity.CONTRADICTION,
            Words(
                "{model} is at port {port} of {host} in {here}, at port {other_port} in {there}",
                "{host} 上的 {model}：{here} 中端口是 {port}，{there} 中是 {other_port}",
            ),
            Words(
                "If only one of them runs, remove the other from the routing file or set "
                "enabled: false; if both run, give them different NPUs.",
                "若只运行其中一个，请在路由文件中删除另一个或设 enabled: false；"
                "若两个都运行，请分配不同的 NPU。",
            ),
        ),
        Code.PORT_OTHER_MODEL: Text(
            Severity.CONTRADICTION,
            Words(
                "{url} serves {running} ({here}), while {there} puts {promised} there",
                "{url} 提供的是 {running}（{here}），而 {there} 说那里是 {promised}",
            ),
            Words(
                "What runs was taken, the other is disabled. Mend the port in {there}, or start "
                "the right server.",
                "已采用实际运行的，另一个设为停用。请修正 {there} 中的端口，或启动正确的服务。",
            ),
        ),
        Code.CONTAINER_PAIRED: Text(
            Severity.GUESS,
            Words(
                "no source says in which container {launch} is run; {container} was taken, the "
                "only one with NPUs {npus} and port {port}",
                "没有来源说明 {launch} 在哪个容器中执行；取了 {container}，只有它同时具有 NPU "
                "{npus} 和端口 {port}",
            ),
            Words(
                "Check that it is started there; `docker exec {container} ps aux` shows it.",
                "请确认它在该容器中启动：`docker exec {container} ps aux` 可以看到。",
            ),
        ),
        Code.CONTAINER_UNSEEN: Text(
            Severity.GUESS,
            Words(
                "the container {container} is in none of the sources, so the host port of its "
                "port {port} is not known; the same number was taken",
                "所给来源中没有容器 {container}，无从得知其端口 {port} 对应的主机端口；"
                "暂取同一数字",
            ),
            Words(
                "Give the command that starts it, or what `docker inspect {container}` prints.",
                "请提供启动该容器的命令，或 `docker inspect {container}` 的输出。",
            ),
        ),
        Code.PORT_DEFAULT: Text(
            Severity.GUESS,
            Words(
                "the command gives no port; {port}, the engine's default, was taken",
                "启动命令没有指定端口；取引擎默认的 {port}",
            ),
            Words(
                "Check it with `curl http://{host}:{port}/v1/models`.",
                "请用 `curl http://{host}:{port}/v1/models` 确认。",
            ),
        ),
        Code.SOCKET_ONLY: Text(
            Severity.GUESS,
            Words(
                "it listens on the Unix socket {path} only; the gateway needs a port, and {port} "
                "was taken",
                "它只监听 Unix socket {path}；网关需要端口，暂取 {port}",
            ),
            Words(
                "Start it with --host and --port instead of --uds.",
                "用 --host 和 --port 代替 --uds 启动。",
            ),
        ),
        Code.HOST_ASSUMED: Text(
            Severity.GUESS,
            Words(
                "no source says on which machine these run: {names}; {host} was taken",
                "没有来源说明这些后端在哪台机器上：{names}；取了 {host}",
            ),
            Words(
                "Give the machine's address with --host, or change `url`, if the gateway runs "
                "elsewhere or in a container.",
                "如果网关在别的机器上或在容器中运行，请用 --host 给出地址，或修改 `url`。",
            ),
        ),
        Code.CHIP_ASSUMED: Text(
            Severity.GUESS,
            Words(
                "no source names the chip; {chip} was taken because of {reason}",
                "没有来源写明芯片型号；根据 {reason} 取 {chip}",
            ),
            Words(
                "Look at `npu-smi info` on the machine and correct `chip`: 310P, A2 or A3.",
                "请在该机器上查看 `npu-smi info`，并更正 `chip`：310P、A2 或 A3。",
            ),
        ),
        Code.LOG_NOT_MATCHED: Text(
            Severity.NOTE,
            Words(
                "this log was not used: {count} backends fit it ({names}), and a log is taken "
                "only where it is exactly one, which has no other log yet",
                "未使用这份日志：与它相符的后端有 {count} 个（{names}）；只有恰好一个相符、"
                "且该后端还没有日志时才会采用",
            ),
            Words(
                "Give the command that wrote it, too, or adopt that backend and this log alone.",
                "请同时提供写出该日志的启动命令，或只用该后端与这份日志单独执行 adopt。",
            ),
        ),
        Code.ACCOUNT_FAILED: Text(
            Severity.NOTE,
            Words("{url} could not be asked: {problem}", "无法询问 {url}：{problem}"),
            Words(
                "Start the server there, or correct the address, and adopt again.",
                "请启动该服务或更正地址，然后重新执行 adopt。",
            ),
        ),
        Code.LAUNCH_HEADLESS: Text(
            Severity.NOTE,
            Words(
                "{model} is started here without an HTTP server ({option}): it is no backend of "
                "its own",
                "这里启动的 {model} 不带 HTTP 服务（{option}），不单独作为后端",
            ),
            Words(
                "Nothing to do if it is part of a backend on another machine.",
                "如果它属于另一台机器上的后端，则无需处理。",
            ),
        ),
    }
)
