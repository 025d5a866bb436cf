"""How what is found while sources, manifests and container commands are read is told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

CONTAINERS: Final[Texts] = MappingProxyType(
    {
        Code.NOTHING_FOUND: Text(
            Severity.NOTE,
            Words(
                "no engine, no container and no engine log is in this source",
                "该输入中没有推理引擎、容器或引擎日志",
            ),
            Words(
                "Give the script that runs `vllm serve`, the Compose file or the manifests, or "
                "what `docker inspect CONTAINER` or `ps -ef` print.",
                "请提供执行 `vllm serve` 的脚本、Compose 文件或 K8s 清单，或者 "
                "`docker inspect 容器`、`ps -ef` 的输出。",
            ),
        ),
        Code.SOURCE_UNREADABLE: Text(
            Severity.TRAP,
            Words(
                "this is not text: it holds bytes that no script, manifest or log has",
                "不是文本：含有脚本、清单和日志都不会出现的字节",
            ),
            Words(
                "Give a text file in UTF-8. Unpack archives; convert UTF-16 with "
                "iconv -f UTF-16 -t UTF-8.",
                "请提供 UTF-8 文本。压缩包先解开；UTF-16 用 iconv -f UTF-16 -t UTF-8 转换。",
            ),
        ),
        Code.MANIFEST_UNREADABLE: Text(
            Severity.TRAP,
            Words(
                "a document can't be read here: {problem}. The others of the file were read",
                "此处的文档无法解析：{problem}。文件中的其余文档已读取",
            ),
            Words(
                "Correct this line or the one above: indentation, a missing colon or quote, a tab "
                "in place of blanks.",
                "检查此行或上一行：缩进、漏写的冒号或引号、用制表符代替了空格。",
            ),
        ),
        Code.MANIFEST_TOO_LARGE: Text(
            Severity.TRAP,
            Words(
                "a document is more than is read here ({problem})",
                "文档超出可读取的范围（{problem}）",
            ),
            Words(
                "Give the part with the engines as a file of its own, and look for an anchor "
                "(&name) that contains its own alias (*name).",
                "把引擎部分单独存成一个文件；并检查是否有锚点（&name）包含了自身的别名（*name）。",
            ),
        ),
        Code.TEMPLATE_NOT_RENDERED: Text(
            Severity.TRAP,
            Words(
                "this is a template that is not filled in yet: {template}",
                "这是尚未渲染的模板：{template}",
            ),
            Words(
                "Render it first and give what comes out: `helm template CHART -f values.yaml`, or "
                "`kubectl get -o yaml` of what runs.",
                "请先渲染再提供结果：`helm template CHART -f values.yaml`，或用 "
                "`kubectl get -o yaml` 导出正在运行的对象。",
            ),
        ),
        Code.KEY_TWICE: Text(
            Severity.TRAP,
            Words(
                "{key} is given a second time in the same mapping; the last one was taken, Compose "
                "refuses the file",
                "{key} 在同一映射中重复出现；此处取最后一个，而 Compose 会拒绝该文件",
            ),
            Words(
                "Keep one of the two; if both are meant, rename one.",
                "只保留一个；如果两者都需要，请改名。",
            ),
        ),
        Code.FILE_NOT_FOLLOWED: Text(
            Severity.NOTE,
            Words(
                "{what} takes something from the file {file}, which was not read",
                "{what} 引用了文件 {file}，该文件未读取",
            ),
            Words(
                "Give what `docker compose config` prints: it has everything in one file.",
                "请提供 `docker compose config` 的输出，它会把全部内容合并到一个文件。",
            ),
        ),
        Code.ENV_FILE_UNREAD: Text(
            Severity.NOTE,
            Words(
                "{container} gets more variables from {source}, which was not read",
                "{container} 还会从 {source} 获得环境变量，该来源未读取",
            ),
            Words(
                "Look there for ASCEND_RT_VISIBLE_DEVICES, VLLM_* and whatever the command uses, "
                "and correct the routing file if one of them changes it.",
                "请查看其中的 ASCEND_RT_VISIBLE_DEVICES、VLLM_* 以及命令用到的变量，"
                "如有影响请修改路由文件。",
            ),
        ),
        Code.DEVICES_UNREADABLE: Text(
            Severity.GUESS,
            Words(
                "which NPUs {container} gets can't be read from {devices}",
                "无法从 {devices} 得知 {container} 使用哪些 NPU",
            ),
            Words(
                "No tool expands patterns in a device's name: write every device by itself, such "
                "as --device /dev/davinci0 --device /dev/davinci1, and set `npus` in the routing "
                "file.",
                "设备名中的通配符不会被展开：请逐个写出设备，例如 "
                "--device /dev/davinci0 --device /dev/davinci1，并在路由文件中填写 `npus`。",
            ),
        ),
        Code.PORT_UNREADABLE: Text(
            Severity.TRAP,
            Words(
                "{port} is no published port that can be read for {container}",
                "{container} 的端口映射 {port} 无法解析",
            ),
            Words(
                "Write HOST:CONTAINER, such as 12320:8000, both between 1 and 65535, ranges of the "
                "same length.",
                "请写成 主机端口:容器端口，例如 12320:8000；取值 1 到 65535，两侧范围长度一致。",
            ),
        ),
        Code.CONTAINER_OPTION_UNKNOWN: Text(
            Severity.GUESS,
            Words(
                "the option {option} of {container} is not known here, so it is a guess where its "
                "value ends and the image begins",
                "{container} 的选项 {option} 未收录，它的值到哪里结束、镜像从哪里开始属于推测",
            ),
            Words(
                "Check the option's spelling. Written as --option=value it can't be mistaken.",
                "检查选项拼写。写成 --option=value 就不会误读。",
            ),
        ),
        Code.ENTRYPOINT_ASSUMED: Text(
            Severity.GUESS,
            Words(
                "{container} is only given arguments; they were read as those of `{entrypoint}`, "
                "which the image must start by itself",
                "{container} 只给出了参数；已按镜像自带入口为 `{entrypoint}` 读取",
            ),
            Words(
                "Check the Entrypoint that `docker inspect IMAGE` shows, or write the whole "
                "command.",
                "用 `docker inspect 镜像` 核对其中的 Entrypoint，或写出完整命令。",
            ),
        ),
        Code.COMMAND_BACKSLASH: Text(
            Severity.TRAP,
            Words(
                "the command of {container} has backslashes at line ends; no shell reads it, so "
                "each becomes a part of the next argument. It was read as if they were not there",
                "{container} 的命令行尾有反斜杠；它不经过 shell，反斜杠后的空白会并入下一个参数。"
                "此处按没有反斜杠读取",
            ),
            Words(
                "Remove them: behind `command: >` the lines are joined anyway. Or write a list.",
                "去掉反斜杠：`command: >` 本来就会合并各行；或改写成列表。",
            ),
        ),
        Code.UNIT_SPECIFIER: Text(
            Severity.GUESS,
            Words(
                "{unit} is a template: {specifier} is the name behind the @ of each instance, "
                "which no source tells",
                "{unit} 是模板单元：{specifier} 取自各实例 @ 后的名称，输入中没有给出",
            ),
            Words(
                "Give the unit once for every instance, under the instance's file name, such as "
                "vllm@2.service.",
                "请为每个实例各提供一份，文件名用实例名，例如 vllm@2.service。",
            ),
        ),
        Code.PROFILE_NEEDED: Text(
            Severity.NOTE,
            Words(
                "{container} is only started with the profile {profile}",
                "{container} 只有启用 profile {profile} 时才会启动",
            ),
            Words(
                "Set `enabled: false` in the routing file if it usually does not run.",
                "如果它平时不运行，请在路由文件中设 `enabled: false`。",
            ),
        ),
        Code.REPLICAS_ONE_ADDRESS: Text(
            Severity.TRAP,
            Words(
                "{count} copies of {container} stand behind one address: the gateway takes them "
                "for one server, and knows neither how busy nor how well each is",
                "{container} 的 {count} 个副本共用一个地址：网关会把它们当作一个服务，"
                "无从得知各副本的负载和状态",
            ),
            Words(
                "Give each its own address and make each a backend: a StatefulSet with a headless "
                "service, or a port of its own for every container.",
                "让每个副本有独立地址并各配一个 backend：StatefulSet 加 headless service，"
                "或每个容器使用各自的端口。",
            ),
        ),
        Code.OUTSIDE_PORT: Text(
            Severity.NOTE,
            Words(
                "{container} was taken to be reached at {address}, which only resolves inside the "
                "cluster; from outside it is {outside}",
                "{container} 的地址取为 {address}，仅集群内可解析；集群外的地址是 {outside}",
            ),
            Words(
                "If the gateway runs outside of the cluster, change `url` to that.",
                "如果网关在集群外运行，请把 `url` 改成后者。",
            ),
        ),
    }
)
