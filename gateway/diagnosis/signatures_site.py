"""Errors of the place: devices, rights, ports, environment, images, memory on the chip.

Sources: vllm-project/vllm-ascend, docs/source/faqs.md (questions 6, 12, 19, 20), worker/worker.py,
_310p/worker_310p.py, the guide to PD disaggregation with Mooncake, issues 405, 449, 859, 2698,
2725, 3357, 4725, 9372, 11968, 13399, 14631, 16205, 16237; vllm-project/vllm, worker and
kv_cache_utils.py; Project-HAMi/HAMi issues 1696 and 1894; gpustack/gpustack issue 3352.
"""

from typing import Final

from gateway.diagnosis.signature import Rank, Scope, Signature, coded
from gateway.words import Words

SITE: Final = (
    Signature(
        id="driver_unavailable",
        needles=("dcmi module initialize failed", "drvmnggetconsoleloglevel failed"),
        scope=Scope.STARTUP,
        layer="driver",
        rank=Rank.SITE,
        cause=Words(
            "The NPU driver can't be used from here: the device is taken by another container, or "
            "this container lacks the rights or the driver's files.",
            "当前环境用不了 NPU 驱动：设备已被别的容器占用，或者容器缺少权限、没有挂载驱动文件。",
        ),
        remedy=Words(
            "Give each NPU to one container only. Check --device, the driver volumes and "
            "--runtime=ascend; `npu-smi info` must work inside before vLLM can.",
            "一个 NPU 只分给一个容器；检查 --device、驱动目录的挂载和 --runtime=ascend。"
            "先让容器里的 `npu-smi info` 正常，再启动 vLLM。",
        ),
    ),
    Signature(
        id="device_not_opened",
        needles=(
            *coded(507033),
            *coded(107001),
            "device id error",
            "invalid device id",
            "set visible device failed",
        ),
        scope=Scope.STARTUP,
        layer="ACL",
        rank=Rank.SITE + 1,
        cause=Words(
            "A device number does not exist here or can't be opened: the visible devices and the "
            "devices mounted into the container disagree.",
            "设备号不存在或打不开：可见设备列表与容器实际挂载的设备不一致。",
        ),
        remedy=Words(
            "ASCEND_RT_VISIBLE_DEVICES must name devices that --device mounts, ascending, with "
            "commas and no blanks; it is cut at the first wrong entry.",
            "ASCEND_RT_VISIBLE_DEVICES 只能写 --device 挂载进来的设备，从小到大，用逗号分隔，"
            "不能有空格；遇到第一个无效项，后面的都会被忽略。",
        ),
    ),
    Signature(
        id="too_few_devices",
        all_needles=("local_world_size", "number of visible devices"),
        scope=Scope.STARTUP,
        layer="vLLM worker",
        rank=Rank.SITE + 2,
        cause=Words(
            "The tensor parallel size is larger than the number of NPUs that the process sees.",
            "张量并行数大于进程能看到的 NPU 数量。",
        ),
        remedy=Words(
            "Mount more devices, correct ASCEND_RT_VISIBLE_DEVICES, or lower "
            "--tensor-parallel-size. Zero visible devices: the driver does not work in there.",
            "多挂载设备、改正 ASCEND_RT_VISIBLE_DEVICES，或调小 --tensor-parallel-size。"
            "若可见设备数为 0，说明容器里的驱动不可用。",
        ),
    ),
    Signature(
        id="environment_not_loaded",
        needles=("failed to infer device type", "libatb.so: cannot open shared object file"),
        scope=Scope.STARTUP,
        layer="environment",
        rank=Rank.SITE + 3,
        cause=Words(
            "CANN or NNAL is not in the environment of the process.",
            "进程的环境里没有 CANN 或 NNAL。",
        ),
        remedy=Words(
            "Source set_env.sh of ascend-toolkit and of nnal/atb in the shell or unit that starts "
            "vLLM; then check with `npu-smi info`.",
            "在启动 vLLM 的 shell 或服务单元里先 source ascend-toolkit 和 nnal/atb 的 "
            "set_env.sh，再用 `npu-smi info` 确认。",
        ),
    ),
    Signature(
        id="image_for_other_chip",
        all_needles=("the socversion", "does not match the current device"),
        scope=Scope.STARTUP,
        layer="operator package",
        rank=Rank.SITE + 4,
        cause=Words(
            "The operators in the image were built for another chip.",
            "镜像里的算子包是为另一种芯片编译的。",
        ),
        remedy=Words(
            "Use the image of this chip: tag ...-310p for Atlas 300I Duo, ...-a3 for A3, none for "
            "A2.",
            "换成对应芯片的镜像：Atlas 300I Duo 用 ...-310p，A3 用 ...-a3，A2 不带后缀。",
        ),
    ),
    Signature(
        id="operator_missing",
        needles=("does not support optype", "get path and read binary_info_config.json failed"),
        scope=Scope.STARTUP,
        layer="operator package",
        rank=Rank.REFUSAL + 3,
        cause=Words(
            "An operator that the model needs does not exist for this chip in this release.",
            "模型需要的某个算子，在这个版本里没有本芯片的实现。",
        ),
        remedy=Words(
            "Use the image of this chip, or a newer release; older ones for 310P lack operators "
            "for MoE models. Otherwise serve another model.",
            "确认镜像对应本芯片，或升级版本（旧的 310P 镜像缺少 MoE 模型的算子）；否则只能换模型。",
        ),
    ),
    Signature(
        id="image_pull_broken",
        needles=("invalid tar header",),
        scope=Scope.STARTUP,
        layer="docker",
        rank=Rank.SITE + 5,
        cause=Words(
            "Docker on this host can't unpack the image while pulling it; known from Kylin.",
            "本机的 docker 在拉取时无法解包镜像，麒麟系统上常见。",
        ),
        remedy=Words(
            "Pull it on another machine of the same architecture, `docker save` it there, copy "
            "the file and `docker load` it here.",
            "在另一台机器上按相同架构拉取，用 `docker save` 导出，拷过来再 `docker load`。",
        ),
    ),
    Signature(
        id="container_not_permitted",
        all_needles=("docker: error response from daemon", "operation not permitted"),
        scope=Scope.STARTUP,
        layer="docker",
        rank=Rank.SITE + 6,
        cause=Words(
            "Docker may not set up the container as asked; known with --shm-size.",
            "docker 无权按要求创建容器，带 --shm-size 时较常见。",
        ),
        remedy=Words(
            "Try --privileged=true if your rules allow it; it gives the container wide rights on "
            "the host.",
            "在安全规范允许的前提下加 --privileged=true；注意这会给容器很大的宿主机权限。",
        ),
    ),
    Signature(
        id="hccl_port_taken",
        needles=(
            "communication_error_bind_ip_port",
            "failed to bind the ip port",
            "the ip address and port have been bound already",
            "host nic listen start failed",
            "specific port[16666] fail",
            "hcclgetrootinfo(&hcclid), error code is 7",
            "hcclgetrootinfo(&hcclid), error code is 11",
        ),
        scope=Scope.STARTUP,
        layer="HCCL",
        rank=Rank.SITE + 7,
        cause=Words(
            "Another job on this host already uses HCCL's own ports (60000 and up on the host, "
            "16666 on the NPU). The port of the API has nothing to do with it.",
            "本机另一个任务占用了 HCCL 自己的端口（主机侧从 60000 起，NPU 侧 16666）。"
            "与 API 端口无关。",
        ),
        remedy=Words(
            "Give each job its own HCCL_IF_BASE_PORT, or set HCCL_HOST_SOCKET_PORT_RANGE and "
            "HCCL_NPU_SOCKET_PORT_RANGE; stop leftovers of an earlier start.",
            "给每个任务设置不同的 HCCL_IF_BASE_PORT，或者设置 HCCL_HOST_SOCKET_PORT_RANGE 和 "
            "HCCL_NPU_SOCKET_PORT_RANGE；并清理上次启动残留的进程。",
        ),
    ),
    Signature(
        id="zmq_port_taken",
        needles=("zmq.error.zmqerror: address already in use",),
        scope=Scope.STARTUP,
        layer="ZeroMQ",
        rank=Rank.SITE + 8,
        cause=Words(
            "A port for messages between the processes is taken; with Mooncake usually because "
            "kv_port lies in the range that its transport uses (from 20000, 1000 an NPU).",
            "进程间通信的端口被占用；用 Mooncake 时多半是 kv_port 落在了传输层的端口段里"
            "（从 20000 起，每个 NPU 占 1000 个）。",
        ),
        remedy=Words(
            "Set kv_port to 28000 or more with 8 NPUs, 36000 or more with 16. Without Mooncake: "
            "start again; two starts at once can pick the same port.",
            "8 个 NPU 时 kv_port 取 28000 以上，16 个时取 36000 以上。没有用 Mooncake 就重新"
            "启动：同时启动的两个进程可能选到同一个端口。",
        ),
    ),
    Signature(
        id="chip_memory_taken",
        all_needles=("free memory on device (", "less than desired gpu memory utilization"),
        scope=Scope.STARTUP,
        layer="vLLM worker",
        rank=Rank.REFUSAL + 4,
        cause=Words(
            "Less memory is free on the chip than --gpu-memory-utilization asks for: a leftover "
            "process or another container is on it, or the share is too high.",
            "芯片上的空闲显存少于 --gpu-memory-utilization 要求的量：有残留进程或别的容器"
            "占用，或者比例设得过高。",
        ),
        remedy=Words(
            "Look for leftover processes with `npu-smi info` and end them; else lower "
            "--gpu-memory-utilization.",
            "用 `npu-smi info` 找出残留进程并结束；没有残留就调低 --gpu-memory-utilization。",
        ),
    ),
    Signature(
        id="kv_cache_does_not_fit",
        needles=(
            "no available memory for the cache blocks",
            "larger than the available kv cache",
            "available kv cache memory: -",
        ),
        scope=Scope.STARTUP,
        layer="vLLM",
        rank=Rank.REFUSAL + 5,
        cause=Words(
            "The weights leave too little memory for the KV cache of one request of full length. "
            "On 310P half of what is free is kept back as well.",
            "权重占掉之后，剩下的显存放不下一个最长请求的 KV 缓存。310P 上空闲部分还要再减半。",
        ),
        remedy=Words(
            "Lower --max-model-len, raise --gpu-memory-utilization, use more NPUs or quantised "
            "weights.",
            "调小 --max-model-len，调高 --gpu-memory-utilization，增加 NPU 或改用量化权重。",
        ),
    ),
    Signature(
        id="chip_out_of_memory",
        needles=("npu out of memory. tried to allocate",),
        scope=Scope.ENGINE,
        layer="torch_npu",
        rank=Rank.REFUSAL + 6,
        cause=Words(
            "The chip ran out of memory; at startup or, if it was just enough, under load.",
            "芯片显存不足；可能在启动时，也可能启动时刚好够、加压后不够。",
        ),
        remedy=Words(
            "Lower --gpu-memory-utilization, --max-model-len or --max-num-batched-tokens; set "
            "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True against fragmentation.",
            "调低 --gpu-memory-utilization、--max-model-len 或 --max-num-batched-tokens；"
            "碎片较多时设置 PYTORCH_NPU_ALLOC_CONF=expandable_segments:True。",
        ),
    ),
)
