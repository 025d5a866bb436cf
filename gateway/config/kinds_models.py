"""What the problems of models and of their references mean, and what to do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.config.codes import Code
from gateway.config.kind import Kind, error, warning
from gateway.words import Words

KINDS: Final[Mapping[Code, Kind]] = MappingProxyType(
    {
        Code.NAME_COLLISION: error(
            Words("A name or alias means two models.", "一个名称或别名指向两个模型。"),
            Words("Rename or remove one of the two.", "改名或删掉其中一个。"),
        ),
        Code.NAMES_DIFFER_IN_CASE: warning(
            Words(
                "Two names differ only in letter case or form. Both work, each exactly as written.",
                "两个名称只有大小写或字形上的差别。两者都可用，须与所写完全一致。",
            ),
            Words("Rename one, if people may mix them up.", "如果容易混淆，请改掉其中一个。"),
        ),
        Code.UNKNOWN_BACKEND: error(
            Words(
                "A model names a backend that is not in the file.", "模型引用了文件中没有的后端。"
            ),
            Words("Correct the name or add it.", "改正名称，或添加该后端。"),
        ),
        Code.UNKNOWN_MODEL: error(
            Words(
                "`fallback_models` or `default_model` names no model of the file.",
                "`fallback_models` 或 `default_model` 不是文件中的模型。",
            ),
            Words("Use the `name` of a model, not an alias.", "使用模型的 `name`，而不是别名。"),
        ),
        Code.FALLBACK_TO_ITSELF: error(
            Words("A model has itself as fallback.", "模型把自己列为备用模型。"),
            Words("Remove it from the list.", "从列表中删掉它。"),
        ),
        Code.FALLBACK_TWICE: warning(
            Words("A fallback is listed twice.", "备用模型列了两次。"),
            Words("Remove one.", "删掉一个。"),
        ),
        Code.FALLBACK_DISABLED: warning(
            Words("A fallback is a disabled model.", "备用模型已停用。"),
            Words("Enable it, or remove it from the list.", "启用它，或从列表中删掉。"),
        ),
        Code.DEFAULT_MODEL_DISABLED: error(
            Words("`default_model` is disabled.", "`default_model` 已停用。"),
            Words("Enable it, or choose another.", "启用它，或换一个。"),
        ),
        Code.MODEL_WITHOUT_BACKENDS: error(
            Words("A model has neither backends nor a selector.", "模型既没有后端，也没有选择器。"),
            Words("Add one of them.", "补上其中一种。"),
        ),
        Code.BACKENDS_AND_SELECTOR: error(
            Words("A model has both backends and a selector.", "模型同时有后端和选择器。"),
            Words("Keep one of them.", "只保留其中一种。"),
        ),
        Code.SELECTOR_MATCHES_NOTHING: error(
            Words("No backend has what the selector asks for.", "没有后端符合选择器的要求。"),
            Words("Correct the selector or the labels.", "改正选择器或标签。"),
        ),
        Code.BACKEND_TWICE_IN_MODEL: error(
            Words("A model lists one backend twice.", "一个模型把同一个后端列了两次。"),
            Words("Remove one of the two.", "删掉其中一个。"),
        ),
        Code.MODEL_ALL_DISABLED: warning(
            Words(
                "All backends of an enabled model are disabled: requests for it get 503.",
                "启用的模型，其后端全部停用：请求会得到 503。",
            ),
            Words("Enable a backend, or disable the model.", "启用一个后端，或停用该模型。"),
        ),
        Code.NOTHING_SERVED: warning(
            Words(
                "No model is enabled: every request is refused.",
                "没有启用的模型：所有请求都会被拒绝。",
            ),
            Words("Add or enable a model.", "添加或启用一个模型。"),
        ),
        Code.BACKEND_UNUSED: warning(
            Words("No model uses the backend.", "没有模型使用该后端。"),
            Words(
                "Add it to a model, or set `enabled: false`.",
                "把它加到模型中，或设为 `enabled: false`。",
            ),
        ),
        Code.ROOTS_DIFFER: warning(
            Words(
                "Backends of one model have different model paths, so answers may differ.",
                "同一模型的各后端路径不同，回答可能不一致。",
            ),
            Words(
                "Check that they hold the same model; otherwise give each its own public name.",
                "请确认它们是同一个模型；否则给每个模型单独的公开名称。",
            ),
        ),
        Code.LIMIT_ABOVE_CONTEXT: warning(
            Words(
                "`max_context_tokens` is above what a backend of the model can hold.",
                "`max_context_tokens` 超过了该模型某个后端的上下文长度。",
            ),
            Words(
                "Lower it, or leave it out: the backends' own limit holds then.",
                "调低它，或不写：那时以后端自己的上限为准。",
            ),
        ),
        Code.TIMEOUT_TOO_SHORT: warning(
            Words(
                "A time limit is shorter than an ordinary request takes on this tier and chip.",
                "时间限制短于此类型和芯片上普通请求所需的时间。",
            ),
            Words(
                "Raise it, or leave it out: the default follows the tier.",
                "调大它，或不写：默认值随类型而定。",
            ),
        ),
        Code.TIMEOUT_NEVER_REACHED: warning(
            Words(
                "`total_s` is shorter than another limit, which therefore never applies.",
                "`total_s` 短于另一项限制，后者因此永远不会生效。",
            ),
            Words("Raise `total_s`, or lower the other one.", "调大 `total_s`，或调小另一项。"),
        ),
    }
)
