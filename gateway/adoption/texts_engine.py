"""How what was found in an engine's command line or log is told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

_ARGUMENTS: Final[Texts] = MappingProxyType(
    {
        Code.OPTION_UNKNOWN: Text(
            Severity.TRAP,
            Words(
                "vLLM has no option {option}{near} and refuses to start with it",
                "vLLM 没有 {option} 这个选项{near}，带上它会拒绝启动",
            ),
            Words(
                "Correct the spelling or remove it; `vllm serve --help=all` lists the options.",
                "改正拼写或去掉它；`vllm serve --help=all` 列出全部选项。",
            ),
        ),
        Code.OPTION_TWICE: Text(
            Severity.TRAP,
            Words(
                "{option} is given more than once; only the last counts: {value}",
                "{option} 给了不止一次，只有最后一次生效：{value}",
            ),
            Words(
                "Keep one. Single fields such as --compilation-config.cudagraph_mode replace the "
                "JSON of the same option; they are not added to it.",
                "只保留一个。--compilation-config.cudagraph_mode 这类单字段写法会整个替换同一选项的"
                " JSON，不会合并。",
            ),
        ),
        Code.VALUE_UNREADABLE: Text(
            Severity.TRAP,
            Words(
                "vLLM does not take {value} as the value of {option}",
                "vLLM 不接受 {value} 作为 {option} 的值",
            ),
            Words(
                "Correct it. JSON wants double quotes, true and false, and single quotes around "
                "the whole in a shell.",
                "请改正。JSON 要用双引号和小写 true/false，在 shell 里整体再用单引号括起来。",
            ),
        ),
        Code.VALUE_MISSING: Text(
            Severity.TRAP,
            Words("{option} has no value", "{option} 后面没有值"),
            Words(
                "Give one, or look whether a variable behind it is empty.",
                "补上值，或检查后面的变量是否为空。",
            ),
        ),
        Code.FLAG_WITH_VALUE: Text(
            Severity.TRAP,
            Words(
                "{option} takes no value, and {value} is given; recent vLLM refuses to start so",
                "{option} 不带值，却给了 {value}；较新的 vLLM 会拒绝启动",
            ),
            Words(
                "Write the option alone to switch it on, --no-… to switch it off.",
                "打开就只写选项本身，关闭用 --no-… 形式。",
            ),
        ),
        Code.OPTION_ENDED: Text(
            Severity.NOTE,
            Words(
                "{option} is gone from vLLM {version} on, which refuses to start with it",
                "{option} 从 vLLM {version} 起已删除，带上它会拒绝启动",
            ),
            Words(
                "Remove it or use what took its place before the image is updated.",
                "升级镜像前去掉它，或换成新的选项。",
            ),
        ),
        Code.WORD_STRAY: Text(
            Severity.TRAP,
            Words(
                "{value} belongs to no option; vLLM refuses to start with words it can't place",
                "{value} 不属于任何选项；vLLM 遇到无法归位的词会拒绝启动",
            ),
            Words(
                "Look for a value that lacks its quotes, or for an option that lost its dashes.",
                "检查是否有值没加引号，或选项丢了前面的横线。",
            ),
        ),
        Code.MODEL_NOT_GIVEN: Text(
            Severity.TRAP,
            Words(
                "no model is given; vLLM would then serve its default, a small Qwen3",
                "没有指定模型；vLLM 会改用它默认的小型 Qwen3",
            ),
            Words(
                "Put the model behind `vllm serve`, or look whether its variable is empty.",
                "把模型写在 `vllm serve` 后面，或检查对应变量是否为空。",
            ),
        ),
        Code.MODEL_IGNORED: Text(
            Severity.TRAP,
            Words(
                "api_server ignores {value} without --model in front of it",
                "api_server 会忽略前面没有 --model 的 {value}",
            ),
            Words(
                "Write --model {value}, or use `vllm serve`.",
                "写成 --model {value}，或改用 `vllm serve`。",
            ),
        ),
        Code.SERVED_NAME_COMMA: Text(
            Severity.TRAP,
            Words(
                "vLLM takes {value} as one name, comma and all",
                "vLLM 把 {value} 连同逗号当成一个名字",
            ),
            Words(
                "Part the names by blanks: --served-model-name a b.",
                "多个名字用空格分隔：--served-model-name a b。",
            ),
        ),
        Code.CONFIG_NOT_READ: Text(
            Severity.TRAP,
            Words(
                "vLLM reads the file {value} only where it is written as two words: --config FILE",
                "只有写成两个词（--config 文件）时 vLLM 才会读取 {value}",
            ),
            Words("Write a blank instead of the equals sign.", "把等号改成空格。"),
        ),
        Code.CONFIG_UNREADABLE: Text(
            Severity.TRAP,
            Words(
                "{file} can't be read as options in YAML; see line {line}",
                "{file} 不是可读的 YAML 选项文件，见第 {line} 行",
            ),
            Words(
                "It needs lines such as `max-num-seqs: 8`.",
                "每行应形如 `max-num-seqs: 8`。",
            ),
        ),
    }
)

_LOGS: Final[Texts] = MappingProxyType(
    {
        Code.LOG_SEVERAL_STARTS: Text(
            Severity.NOTE,
            Words(
                "the log holds {count} starts of the engine; the last one counts, from line {line}",
                "日志里有 {count} 次启动；以从第 {line} 行开始的最后一次为准",
            ),
            Words(
                "Nothing to do, unless it should not have been started anew.",
                "若重启在预期之内，无需处理。",
            ),
        ),
        Code.LOG_NOT_READY: Text(
            Severity.NOTE,
            Words(
                "the log does not show that the engine came up",
                "日志没有显示引擎已启动完成",
            ),
            Words(
                "Loading and capturing take minutes; give the log again after "
                "`Application startup complete`.",
                "加载和捕获要几分钟；请在出现 `Application startup complete` 之后重新提供日志。",
            ),
        ),
        Code.LOG_STOPPED: Text(
            Severity.TRAP,
            Words(
                "the log shows that the engine stopped: {message}",
                "日志显示引擎已停止：{message}",
            ),
            Words(
                "ascend-gateway diagnose names the cause of known errors.",
                "用 ascend-gateway diagnose 查找已知错误的原因。",
            ),
        ),
        Code.LOG_CAPTURE_FAILED: Text(
            Severity.TRAP,
            Words(
                "capturing graphs failed, so the engine did not come up: {message}",
                "图捕获失败，引擎没有启动：{message}",
            ),
            Words(
                "Start it with --enforce-eager as tier: eager, or see what ascend-gateway diagnose "
                "says of the error.",
                "用 --enforce-eager 启动并设为 tier: eager，或用 ascend-gateway diagnose 查原因。",
            ),
        ),
        Code.LOG_MODE_NARROWED: Text(
            Severity.NOTE,
            Words(
                "graph mode {wanted} was asked for, the engine took {mode}",
                "要求的图模式是 {wanted}，引擎实际采用 {mode}",
            ),
            Words(
                "The attention backend decides that; ask for {mode} to have it said.",
                "这由注意力后端决定；把配置写成 {mode} 就与实际一致。",
            ),
        ),
        Code.LOG_SIZES_THINNED: Text(
            Severity.TRAP,
            Words(
                "of {before} capture sizes {after} were kept, since streams run out",
                "{before} 个捕获尺寸只保留了 {after} 个，因为流资源不够",
            ),
            Words(
                "Name a few sizes yourself with cudagraph_capture_sizes, or use FULL_DECODE_ONLY.",
                "用 cudagraph_capture_sizes 自己指定少量尺寸，或使用 FULL_DECODE_ONLY。",
            ),
        ),
    }
)

ENGINE: Final[Texts] = MappingProxyType({**_ARGUMENTS, **_LOGS})
