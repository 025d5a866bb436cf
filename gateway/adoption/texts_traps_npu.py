"""How traps with NPUs are told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

NPU_TEXTS: Final[Texts] = MappingProxyType(
    {
        Code.NPU_NOT_MOUNTED: Text(
            Severity.TRAP,
            Words(
                "NPU {missing} is made visible (ASCEND_RT_VISIBLE_DEVICES={visible}), but the "
                "container {container} mounts only {mounted}",
                "ASCEND_RT_VISIBLE_DEVICES={visible} 让 NPU {missing} 可见，但容器 {container} "
                "只挂载了 {mounted}",
            ),
            Words(
                "Name the same NPUs in both: mount /dev/davinciN for each visible N, or set the "
                "variable to {mounted}. The numbers inside are those of the host.",
                "两处写同样的编号：给每个可见的 N 挂载 /dev/davinciN，或把变量改为 {mounted}。"
                "容器内的编号与宿主机一致。",
            ),
        ),
        Code.NPU_NONE_MOUNTED: Text(
            Severity.TRAP,
            Words(
                "the container {container} is given no NPU",
                "容器 {container} 没有挂载任何 NPU",
            ),
            Words(
                "Add --device /dev/davinciN for each NPU, and /dev/davinci_manager, "
                "/dev/devmm_svm and /dev/hisi_hdc. `npu-smi info` in the container must list them.",
                "为每个 NPU 加 --device /dev/davinciN，另加 /dev/davinci_manager、/dev/devmm_svm、"
                "/dev/hisi_hdc；在容器内执行 `npu-smi info` 应能列出它们。",
            ),
        ),
        Code.NPU_LIST_CUT: Text(
            Severity.TRAP,
            Words(
                'ASCEND_RT_VISIBLE_DEVICES="{text}" is read only as far as: {read}. CANN stops at '
                "a blank, a quote, or a number that is not above the one before",
                'ASCEND_RT_VISIBLE_DEVICES="{text}" 实际只读到：{read}。CANN 遇到空格、引号或'
                "不递增的编号就停止",
            ),
            Words(
                "Write ASCEND_RT_VISIBLE_DEVICES={right}: ascending, commas, no blanks.",
                "写成 ASCEND_RT_VISIBLE_DEVICES={right}：递增、逗号分隔、不留空格。",
            ),
        ),
        Code.NPU_VARIABLE_IGNORED: Text(
            Severity.TRAP,
            Words(
                "{variable}={value} has no effect on the engine, which then takes NPUs from 0 on",
                "{variable}={value} 对引擎不起作用，引擎会从 0 号 NPU 开始占用",
            ),
            Words(
                "Set ASCEND_RT_VISIBLE_DEVICES={value} for the command. ASCEND_VISIBLE_DEVICES is "
                "for `docker run` with the ascend runtime only.",
                "给启动命令设置 ASCEND_RT_VISIBLE_DEVICES={value}；ASCEND_VISIBLE_DEVICES "
                "只在用 ascend runtime 执行 `docker run` 时有意义。",
            ),
        ),
        Code.NPU_SHARED: Text(
            Severity.CONTRADICTION,
            Words(
                "NPU {npus} is also used by {other} ({place}); an NPU can't be shared",
                "NPU {npus} 同时被 {other}（{place}）使用；NPU 不能共用",
            ),
            Words(
                "Give them different NPUs, or run one at a time and set enabled: false for the "
                "other in the routing file.",
                "给两者分配不同的 NPU；若是轮换运行，在路由文件里把另一个设为 enabled: false。",
            ),
        ),
        Code.NPU_MOUNTED_TWICE: Text(
            Severity.TRAP,
            Words(
                "the containers {container} and {other} ({place}) both mount NPU {npus}",
                "容器 {container} 与 {other}（{place}）都挂载了 NPU {npus}",
            ),
            Words(
                "Mount a device into one container only; the driver may refuse the second "
                "(dcmi error -8005).",
                "一个设备只挂载到一个容器，否则驱动可能拒绝后启动的那个（dcmi 报错 -8005）。",
            ),
        ),
        Code.TENSOR_PARALLEL_MISMATCH: Text(
            Severity.TRAP,
            Words(
                "the command needs {needed} NPUs (tensor, pipeline and data parallel together), "
                "but is given {npus}",
                "启动命令需要 {needed} 个 NPU（张量、流水线、数据并行合计），实际给了 {npus} 个",
            ),
            Words(
                "Make --tensor-parallel-size and the list of devices agree. With too few the "
                "engine does not start, with too many some lie idle.",
                "让 --tensor-parallel-size 与设备列表一致：少了起不来，多了有 NPU 闲置。",
            ),
        ),
    }
)
