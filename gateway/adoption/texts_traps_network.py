"""How traps with addresses, and with what a server lets others do, are told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

NETWORK_TEXTS: Final[Texts] = MappingProxyType(
    {
        Code.ADDRESS_TWICE: Text(
            Severity.CONTRADICTION,
            Words(
                "host port {port} is also that of {other} ({place})",
                "主机端口 {port} 与 {other}（{place}）重复",
            ),
            Words(
                "Publish another port, such as -p OTHER:CONTAINER; two backends can't have one "
                "address.",
                "换一个主机端口发布（-p 新端口:容器端口）；两个后端不能用同一地址。",
            ),
        ),
        Code.LISTENER_SHARED: Text(
            Severity.CONTRADICTION,
            Words(
                "port {port} is also that of {other} ({place}) in the same network namespace: both "
                "may start, and requests then reach one of them by chance",
                "端口 {port} 与 {other}（{place}）相同，且在同一网络命名空间：两者可能都能启动，"
                "请求会随机落到其中一个",
            ),
            Words(
                "Give each its own --port. vLLM binds with SO_REUSEPORT, so nothing warns you.",
                "各用各的 --port。vLLM 以 SO_REUSEPORT 绑定端口，冲突时不会报错。",
            ),
        ),
        Code.HCCL_PORTS_SHARED: Text(
            Severity.TRAP,
            Words(
                "HCCL uses ports {port} to {last} of this machine, and {other} does so, too; the "
                "one that starts later fails",
                "HCCL 使用本机端口 {port} 到 {last}，{other} 也是；后启动的会失败",
            ),
            Words(
                "Export HCCL_IF_BASE_PORT={better} for one of the two.",
                "给其中一个设置 HCCL_IF_BASE_PORT={better}。",
            ),
        ),
        Code.PORT_DIFFERS: Text(
            Severity.NOTE,
            Words(
                "it listens on {port} inside the container {container}, but is reached on "
                "{host_port}",
                "它在容器 {container} 内监听 {port}，从外部要用 {host_port} 访问",
            ),
            Words(
                "Use {host_port} in the routing file, and {port} only inside the container.",
                "路由文件里写 {host_port}；{port} 只在容器内有效。",
            ),
        ),
        Code.PORT_RANDOM: Text(
            Severity.TRAP,
            Words(
                "port {port} of the container {container} is published on a port that docker "
                "chooses anew at each start",
                "容器 {container} 的端口 {port} 发布到 docker 随机选择的主机端口，每次启动都会变",
            ),
            Words(
                "Publish it on a fixed port: -p {port}:{port}.",
                "固定主机端口：-p {port}:{port}。",
            ),
        ),
        Code.PORT_NOT_PUBLISHED: Text(
            Severity.TRAP,
            Words(
                "the engine listens on {port} in the container {container}, which publishes: "
                "{published}",
                "引擎在容器 {container} 内监听 {port}，而该容器发布的端口是：{published}",
            ),
            Words(
                "Publish the engine's port (-p HOST:{port}), or start the engine with --port of a "
                "published one.",
                "发布引擎的端口（-p 主机端口:{port}），或用已发布的端口启动引擎（--port）。",
            ),
        ),
        Code.LOOPBACK_IN_CONTAINER: Text(
            Severity.TRAP,
            Words(
                "the engine binds {host} inside the container {container}: its published port "
                "leads nowhere",
                "引擎在容器 {container} 内绑定 {host}，发布的端口无法连到它",
            ),
            Words("Start it with --host 0.0.0.0.", "用 --host 0.0.0.0 启动。"),
        ),
        Code.LOOPBACK_ONLY: Text(
            Severity.NOTE,
            Words(
                "the engine binds {host}:{port}: only a gateway on the same machine reaches it",
                "引擎绑定 {host}:{port}，只有同一台机器上的网关能访问",
            ),
            Words(
                "Run the gateway there and outside of a container (or with --network host), or "
                "start the engine with --host and the machine's address.",
                "把网关部署在同一台机器上，且不放进容器（或使用 --network host）；否则用 --host "
                "加本机地址启动引擎。",
            ),
        ),
        Code.NO_API_KEY: Text(
            Severity.TRAP,
            Words(
                "no --api-key, and it listens on {host}: whoever reaches port {port} uses it past "
                "the gateway",
                "没有 --api-key，又监听在 {host}：能连到端口 {port} 的人都可以绕过网关使用",
            ),
            Words(
                "Keep the port closed to all but the gateway (firewall, -p 127.0.0.1:...), or give "
                "the engine --api-key and name it in the routing file with api_key_env.",
                "只让网关访问该端口（防火墙或 -p 127.0.0.1:...），或给引擎加 --api-key，并在路由"
                "文件里用 api_key_env 指定。",
            ),
        ),
        Code.LOCAL_MEDIA_OPEN: Text(
            Severity.TRAP,
            Words(
                "--allowed-local-media-path {path} lets every client read all files that the "
                "server can read",
                "--allowed-local-media-path {path} 让任何客户端都能读取服务进程可读的所有文件",
            ),
            Words(
                "Remove it, or name one folder that holds nothing but media.",
                "去掉它，或者只指定一个专门存放媒体文件的目录。",
            ),
        ),
        Code.DEV_MODE_OPEN: Text(
            Severity.TRAP,
            Words(
                "VLLM_SERVER_DEV_MODE=1 and port {port} is open: whoever reaches it can put the "
                "engine to sleep or call its workers",
                "VLLM_SERVER_DEV_MODE=1 且端口 {port} 对外开放：能连上的人可以让引擎休眠，"
                "或直接调用 worker",
            ),
            Words(
                "Unset it, or let only the gateway's machine reach the port; the gateway does not "
                "forward these routes.",
                "取消该变量，或只允许网关所在机器访问；网关不会转发这些接口。",
            ),
        ),
        Code.KEPT_WHEN_DEAD: Text(
            Severity.TRAP,
            Words(
                "VLLM_KEEP_ALIVE_ON_ENGINE_DEATH=1: after its engine died the server stays and "
                "answers 500 and 503 for ever",
                "VLLM_KEEP_ALIVE_ON_ENGINE_DEATH=1：引擎死后服务进程仍在，会一直返回 500/503",
            ),
            Words(
                "Unset it, so that the process ends and is started again.",
                "取消该变量，让进程退出后被重新拉起。",
            ),
        ),
        Code.KEEP_ALIVE_SHORT: Text(
            Severity.TRAP,
            Words(
                "VLLM_HTTP_TIMEOUT_KEEP_ALIVE={seconds}: it closes connections that the gateway "
                "still means to use (it keeps idle ones for 2.5 s)",
                "VLLM_HTTP_TIMEOUT_KEEP_ALIVE={seconds}：会关掉网关还打算复用的连接"
                "（网关的空闲连接保留 2.5 秒）",
            ),
            Words("Unset it: 5 is the default.", "取消该变量，默认值是 5。"),
        ),
        Code.NAMES_NOT_CHECKED: Text(
            Severity.TRAP,
            Words(
                "VLLM_SKIP_MODEL_NAME_VALIDATION=1: it answers to any model name, so a wrong port "
                "is not noticed",
                "VLLM_SKIP_MODEL_NAME_VALIDATION=1：任何模型名它都接受，端口配错也发现不了",
            ),
            Words(
                "Unset it; list further names with --served-model-name.",
                "取消该变量；需要多个名字时写进 --served-model-name。",
            ),
        ),
        Code.METRICS_SHARED: Text(
            Severity.TRAP,
            Words(
                "PROMETHEUS_MULTIPROC_DIR={folder} is also that of {other}: the figures of both "
                "are added up",
                "PROMETHEUS_MULTIPROC_DIR={folder} 与 {other} 相同：两者的指标会混在一起",
            ),
            Words(
                "Give each its own folder, or leave the variable unset.",
                "各用各的目录，或者不设置该变量。",
            ),
        ),
        Code.METRICS_OFF: Text(
            Severity.TRAP,
            Words(
                "--disable-log-stats: /metrics says nothing of load and KV cache, so the gateway "
                "places by its own counts only",
                "--disable-log-stats：/metrics 里没有负载和 KV 缓存数据，网关只能靠自己的计数"
                "来调度",
            ),
            Words("Remove --disable-log-stats.", "去掉 --disable-log-stats。"),
        ),
    }
)
