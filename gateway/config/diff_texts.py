"""What a difference of two routing files says, in both languages, and how it is put together."""

from collections.abc import Iterable, Sequence
from typing import Final

from gateway.words import Words

NOTHING: Final = Words("nothing changes", "没有任何变化")
NOT_GIVEN: Final = Words("not given", "未设置")
MORE: Final = Words("{count} more not shown", "另有 {count} 处变化未列出")
AND_MORE: Final = Words("{names} and {count} more", "{names} 等，另有 {count} 个")
BECOMES: Final = Words("{name} {old} -> {new}", "{name} {old} → {new}")
REORDERED: Final = Words("{name} in another order", "{name} 的顺序改变")
LIST_ORDER: Final = Words("the order of {name} changes", "{name} 的顺序改变")

MODEL: Final = Words("model {model}", "模型 {model}")
MODEL_OFF: Final = Words("model {model} (disabled)", "模型 {model}（已停用）")
MODEL_REMOVED: Final = Words("model {model} is removed", "模型 {model} 被移除")
MODEL_DISABLED: Final = Words("model {model} is disabled", "模型 {model} 被停用")
MODEL_OFF_REMOVED: Final = Words("disabled model {model} is removed", "已停用的模型 {model} 被移除")
MODEL_OFF_ADDED: Final = Words("model {model} is added, disabled", "新增模型 {model}，尚未启用")
MODEL_ADDED: Final = Words("model {model} is added", "新增模型 {model}")
MODEL_ENABLED: Final = Words("model {model} is enabled", "模型 {model} 被启用")
ALSO_CALLED: Final = Words("clients may also call it {names}", "客户端也可以用 {names} 请求它")
GET_404: Final = Words("clients get 404", "客户端将收到 404")
GET_404_FOR: Final = Words("clients get 404 for {names}", "客户端用 {names} 请求将收到 404")
NOW_MEANS: Final = Words("{names} now means model {model}", "{names} 现在指模型 {model}")
NOW_MEAN: Final = Words("{names} now mean model {model}", "{names} 现在指模型 {model}")
NO_BACKEND_LEFT: Final = Words(
    "no backend is left, so clients get 503", "没有可用的后端，客户端将收到 503"
)
ASKS_FOR: Final = Words(
    "asks backend {backend} for {new} instead of {old}",
    "向后端 {backend} 请求的名称由 {old} 改为 {new}",
)
WAITS: Final = Words("1 request waits for it", "有 1 个请求在等待它")
WAIT: Final = Words("{count} requests wait for it", "有 {count} 个请求在等待它")

LOSES: Final = Words("{models} loses backend {backend}", "{models} 失去后端 {backend}")
LOSE: Final = Words("{models} lose backend {backend}", "{models} 失去后端 {backend}")
GAINS: Final = Words("{models} gains backend {backend}", "{models} 增加后端 {backend}")
GAIN: Final = Words("{models} gain backend {backend}", "{models} 增加后端 {backend}")

BACKEND: Final = Words("backend {backend}", "后端 {backend}")
BACKEND_OFF: Final = Words("backend {backend} (disabled)", "后端 {backend}（已停用）")
BACKEND_REMOVED: Final = Words(
    "backend {backend} ({address}) is removed", "后端 {backend}（{address}）被移除"
)
BACKEND_OFF_REMOVED: Final = Words(
    "disabled backend {backend} is removed", "已停用的后端 {backend} 被移除"
)
BACKEND_ADDED: Final = Words(
    "backend {backend} ({address}) is added", "新增后端 {backend}（{address}）"
)
BACKEND_OFF_ADDED: Final = Words(
    "backend {backend} ({address}) is added, disabled", "新增后端 {backend}（{address}），尚未启用"
)
BACKEND_DISABLED: Final = Words("backend {backend} is disabled", "后端 {backend} 被停用")
BACKEND_ENABLED: Final = Words(
    "backend {backend} ({address}) is enabled", "后端 {backend}（{address}）被启用"
)
BACKEND_RENAMED: Final = Words(
    "backend {backend} is renamed {new} (still at {address})",
    "后端 {backend} 改名为 {new}（地址仍为 {address}）",
)
SAME_ADDRESS: Final = Words(
    "url is written in another way, the address {address} stays",
    "url 的写法改变，地址仍为 {address}",
)
DRAINS: Final = Words("1 request will drain", "1 个进行中的请求会执行完")
DRAIN: Final = Words("{count} requests will drain", "{count} 个进行中的请求会执行完")

_MOST_NAMES: Final = 8


def say(text: Words, **values: Words | str | int) -> Words:
    """A text with its values, on one line and without what a terminal would take as an order."""
    said = {
        name: value if isinstance(value, Words) else Words(str(value), str(value))
        for name, value in values.items()
    }
    return Words(
        text.en.format(**{name: printable(value.en) for name, value in said.items()}),
        text.zh.format(**{name: printable(value.zh) for name, value in said.items()}),
    )


def printable(text: str) -> str:
    """The text with a blank for every sign that can't be shown."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def listed(names: Sequence[str]) -> Words:
    """Names in a row, at most eight of them."""
    shown = names[:_MOST_NAMES]
    row = Words(", ".join(shown), "、".join(shown))
    more = len(names) - len(shown)
    return say(AND_MORE, names=row, count=more) if more else row


def with_parts(head: Words, parts: Iterable[Words]) -> Words:
    """`head: part; part`, or the head alone."""
    told = tuple(parts)
    if not told:
        return head
    return Words(
        f"{head.en}: {'; '.join(part.en for part in told)}",
        f"{head.zh}：{'；'.join(part.zh for part in told)}",
    )


def draining(count: int) -> tuple[Words, ...]:
    """The part that says how many requests will drain; nothing for none."""
    if count <= 0:
        return ()
    return (DRAINS if count == 1 else say(DRAIN, count=count),)


def waiting_for_it(count: int) -> tuple[Words, ...]:
    """The part that says how many requests wait; nothing for none."""
    if count <= 0:
        return ()
    return (WAITS if count == 1 else say(WAIT, count=count),)
