"""How traps with containers are told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

CONTAINER_TEXTS: Final[Texts] = MappingProxyType(
    {
        Code.CONTAINER_MISLEADS: Text(
            Severity.TRAP,
            Words(
                "the container's name {container} reads as {reads_as}, but it serves {serves}",
                "容器名 {container} 看上去是 {reads_as}，实际提供的是 {serves}",
            ),
            Words(
                "Ask for {serves}, never for the container's name; rename it when it is made "
                "anew, for instance to {better}.",
                "请求时用 {serves}，不要用容器名；下次重建时改名，例如 {better}。",
            ),
        ),
        Code.CONTAINER_WITHOUT_SIZE: Text(
            Severity.NOTE,
            Words(
                "the container's name {container} does not say the size of the model in it",
                "容器名 {container} 没有写明其中模型的大小",
            ),
            Words(
                "Put the size into the name when it is made anew, for instance {better}.",
                "重建容器时把大小写进名字，例如 {better}。",
            ),
        ),
        Code.NOT_THE_MAIN_PROCESS: Text(
            Severity.TRAP,
            Words(
                "the main process of the container {container} is {command}, not the server: "
                "`docker ps` says Up whatever happens to it, and a restart does not start it",
                "容器 {container} 的主进程是 {command}，不是推理服务：无论服务死活 `docker ps` 都"
                "显示 Up，重启容器也不会拉起服务",
            ),
            Words(
                "Make `vllm serve ...` the container's command, with --restart unless-stopped; "
                "`docker logs` then shows its log, too.",
                "把 `vllm serve ...` 作为容器命令，并加 --restart unless-stopped；这样 "
                "`docker logs` 也能看到日志。",
            ),
        ),
        Code.LOG_LOST: Text(
            Severity.TRAP,
            Words(
                "started by `docker exec` in {container} with its output kept nowhere: "
                "`docker logs` does not show it",
                "通过 `docker exec` 在 {container} 内启动，输出没有保存：`docker logs` 里看不到",
            ),
            Words(
                "Add ` >> /var/log/vllm.log 2>&1` to the command inside, or make it the "
                "container's own command.",
                "在容器内的命令后加 ` >> /var/log/vllm.log 2>&1`，或把它设为容器自身的命令。",
            ),
        ),
        Code.MODEL_NOT_MOUNTED: Text(
            Severity.TRAP,
            Words(
                "{model} is in none of the folders that the container {container} mounts "
                "({mounts}): it loads only if the image {image} holds it",
                "{model} 不在容器 {container} 挂载的任何目录下（{mounts}）：只有镜像 {image} 自带"
                "它才能加载",
            ),
            Words(
                "Mount the model's folder (-v /data/models:/models:ro). Official images hold no "
                "models; if this one does, it is a private build: name it by its digest "
                "(IMAGE@sha256:...), since the tag does not tell.",
                "挂载模型目录（-v /data/models:/models:ro）。官方镜像不含模型；如果镜像里真有，"
                "说明是自行构建的，请用摘要（IMAGE@sha256:...）指定，只看 tag 分不出来。",
            ),
        ),
        Code.IMAGE_NOT_PINNED: Text(
            Severity.NOTE,
            Words(
                "the image {image} names no version: the next pull may bring another one",
                "镜像 {image} 没有写明版本：下次拉取可能就变了",
            ),
            Words(
                "Name a release or a digest, such as "
                "quay.io/ascend/vllm-ascend:v0.23.0-310p or IMAGE@sha256:...",
                "写明版本或摘要，例如 quay.io/ascend/vllm-ascend:v0.23.0-310p 或 IMAGE@sha256:...",
            ),
        ),
    }
)
