"""What a story about a request says, in English and Chinese."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from gateway.words import Language, Words

OPENING: Final = Words(
    "Request {id} asked for {asked}{model}{caller}, at {time}.",
    "请求 {id} 于 {time} 到达，请求的模型是{asked}{model}{caller}。",
)
AS_MODEL: Final = Words(" (model {model})", "（即 {model}）")
BY_CALLER: Final = Words(", from {caller}", "，来自 {caller}")
NAMED: Final = Words("'{asked}'", " '{asked}'")
NO_NAME: Final = Words("no model", "（未写）")
RUNNING: Final = Words("It has been running for {took}.", "它仍在处理，已用 {took}。")
ENDED: Final = Words("It ended with {status} after {took}.", "它在 {took}后结束，状态 {status}。")
ENDED_BADLY: Final = Words(
    "It ended with {status} after {took}: {error}", "它在 {took}后结束，状态 {status}：{error}"
)
WAITED: Final = Words(
    "It waited {waited} in the line, which it joined at position {position}{expected}{since}.",
    "它在队列中等待了 {waited}，进入时排第 {position} 位{expected}{since}。",
)
WAITS: Final = Words(
    "It has been waiting for {waited} in the line, which it joined at position "
    "{position}{expected}{since}.",
    "它仍在队列中等待，已等 {waited}，进入时排第 {position} 位{expected}{since}。",
)
EXPECTED: Final = Words(" ({expected} were expected)", "（预计 {expected}）")
SINCE_FULL: Final = Words(", since there was no room at {full}", "，原因是这些后端已满：{full}")
ROOM_HELD: Final = Words(
    "; {names} had some, but others came first or a better place was worth the wait",
    "；{names} 尚有空位，但前面有其他请求，或者等待更好的位置更划算",
)
ROOM_ONLY: Final = Words(
    ", although there was room at {names}: others came first or a better place was worth the wait",
    "；{names} 有空位，但前面有其他请求，或者等待更好的位置更划算",
)
LEFT_OUT: Final = Words("Not considered: {refused}.", "未参与比较：{refused}。")
NONE_TAKES: Final = Words(
    "No backend of {model} could take it: {refused}.",
    "{model} 没有可以承接的后端：{refused}。",
)
CHOSEN: Final = Words("{name} was chosen{reason}.", "选中 {name}{reason}。")
ONLY_ONE: Final = Words(", the only backend that could serve it", "，因为可以承接的后端只有这一个")
BY_RULE: Final = Words(" by the rule: {reason}", "，依据规则：{reason}")
BY_ANY_RULE: Final = Words(" by the rule in force", "，依据当前规则")
LEAST: Final = Words(
    " because it cost least: {cost} against {against_cost} at {against}. {difference}",
    "，因为代价最低：{cost}，其次是 {against}，{against_cost}。{difference}",
)
DRAW: Final = Words(
    " by a draw: it cost {cost}, as {against} did",
    "，由抽签决定：代价同为 {cost}的还有 {against}",
)
WEIGHT: Final = Words(
    " because of its weight: with the weights of the routing file it counts as {cost} against "
    "{against_cost} at {against}",
    "，由权重决定：按路由文件中的权重折算为 {cost}，其次是 {against}，{against_cost}",
)

# What made the difference; `here` is the winner's, `there` that of the next best.
DIFFERENCES: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "prompt": Words(
            "The difference is its prompt: {here} there against {there} ({tokens} of its tokens "
            "not cached, against {against_tokens})",
            "差别主要在处理提示词：{here}，后者 {there}（未命中缓存的 token：{tokens}，后者 "
            "{against_tokens}）",
        ),
        "answer": Words(
            "The difference is the speed of its answer: {here} there against {there}",
            "差别主要在生成回答的速度：{here}，后者 {there}",
        ),
        "others": Words(
            "The difference is what it takes from requests that run there: {here} against {there}",
            "差别主要在对正在运行的请求的拖慢：{here}，后者 {there}",
        ),
        "wait": Words(
            "The difference is the wait for what came before it there: {here} against {there}",
            "差别主要在排在它前面的请求：{here}，后者 {there}",
        ),
        "scarcity": Words(
            "The difference is the price of a scarce slot: {here} there against {there}",
            "差别主要在稀缺位置的代价：{here}，后者 {there}",
        ),
        "risk": Words(
            "The difference is the risk that the KV memory does not hold it: {here} there against "
            "{there}",
            "差别主要在 KV 显存不足的风险：{here}，后者 {there}",
        ),
        "penalty": Words(
            "The difference is what speaks against a backend beside its load (doubtful health, a "
            "failure near it, another backend has the conversation): {here} there against {there}",
            "差别主要在负载之外的扣分（状况存疑、邻近故障、会话在别的后端）：{here}，后者 {there}",
        ),
    }
)

WHY: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "down": Words("down", "不可用"),
        "draining": Words("draining", "正在下线"),
        "name_missing": Words("wrong name", "没有该模型名"),
        "tried": Words("asked before", "已经请求过"),
        "context_too_short": Words("context too short", "上下文长度不足"),
        "tier": Words("other tier", "层级不符"),
        "modality": Words("does not take its input", "不支持输入类型"),
        "not_permitted": Words("key not permitted", "密钥无权使用"),
        "last_resort": Words("last resort", "仅作最后选择"),
        "kept_for_other": Words("kept for another", "留给等待更久的请求"),
    }
)

SAY_ENOUGH: Final = frozenset(("tried", "kept_for_other", "last_resort"))
"""Reasons whose detail says nothing more."""

ANSWERED: Final = Words("{backend} answered; that took {took}.", "{backend} 用 {took}完成了回答。")
FAILED: Final = Words(
    "{backend} failed after {took}: {outcome}{detail}.",
    "{backend} 在 {took}后失败：{outcome}{detail}。",
)
UNDER_WAY: Final = Words(
    "{backend} has been working on it for {took}.", "{backend} 正在处理，已用 {took}。"
)
BROKEN_OFF: Final = Words(
    "{backend} was still working on it when the request ended, after {took}.",
    "请求结束时 {backend} 仍在处理，已用 {took}。",
)

OUTCOMES: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "answered": Words("answered", "完成"),
        "interrupted": Words("interrupted", "被中断"),
        "unreachable": Words("it could not be reached", "无法连接"),
        "pool_exhausted": Words("no connection was free", "没有空闲连接"),
        "lost_before_head": Words("the connection ended before an answer", "回答之前连接断开"),
        "judged_down": Words("it was judged down meanwhile", "期间被判定为不可用"),
        "limit": Words("a time limit was reached", "超过时限"),
        "cut": Words("the answer was cut off", "回答中途断开"),
        "malformed": Words("what came was no answer", "收到的内容不是有效回答"),
        "empty": Words("the answer was empty", "回答为空"),
        "aborted": Words("the engine gave up", "引擎放弃了请求"),
        "engine_error": Words("the engine reported an error", "引擎报错"),
        "engine_dead": Words("its engine is dead", "引擎已崩溃"),
        "name_drift": Words("it does not know the name", "不认识该模型名"),
        "key_refused": Words("it refused the gateway's key", "拒绝了网关的密钥"),
        "unavailable": Words("it said that it is not available", "返回暂不可用"),
        "server_error": Words("it answered with a server error", "返回服务器错误"),
        "mismatch": Words("it said something else than before", "内容与之前不一致"),
        "rate_limited": Words("it said that it is full", "返回已满"),
        "context_too_long": Words("its context is too short", "上下文长度不足"),
        "client_error": Words("it refused the request", "拒绝了该请求"),
    }
)

DECISION: Final = Words(
    "Decision {number} of {total}, after {after}{waiting}",
    "第 {number}/{total} 次决定，{after}后{waiting}",
)
AND_WAITING: Final = Words(", {waiting} waiting", "，当时 {waiting} 个请求在等待")
HEADS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "backend": Words("backend", "后端"),
        "tier": Words("tier", "层级"),
        "load": Words("load", "负载"),
        "standing": Words("standing", "状况"),
        "cost": Words("cost s", "代价 s"),
        "prompt": Words("prompt", "提示词"),
        "answer": Words("answer", "回答"),
        "others": Words("others", "拖慢"),
        "wait": Words("wait", "等待"),
        "scarcity": Words("scarcity", "稀缺"),
        "risk": Words("risk", "风险"),
        "penalty": Words("penalty", "扣分"),
        "note": Words("", ""),
    }
)
STANDINGS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "ready": Words("ready", "良好"),
        "doubtful": Words("doubtful", "存疑"),
        "last_resort": Words("last resort", "最后选择"),
        "out": Words("out", "停用"),
    }
)
NOTE_CHOSEN: Final = Words("chosen", "选中")
NOTE_FULL: Final = Words("full", "已满")
NOTE_MEMORY: Final = Words("KV memory full", "KV 显存已满")


class Voice:
    """Speaks one language."""

    __slots__ = ("is_chinese", "language")

    def __init__(self, language: Language) -> None:
        self.language = language
        self.is_chinese = language is Language.ZH

    def say(self, said: Words, **values: object) -> str:
        """A text with its values; what clients and engines wrote can't steer a terminal."""
        plain = {key: printable(str(value)) for key, value in values.items()}
        return said.spoken(self.language).format(**plain)

    def word(self, table: Mapping[str, Words], key: str) -> str:
        """The word for a key; one that is not known stands for itself."""
        found = table.get(key)
        return printable(key) if found is None else found.spoken(self.language)

    def seconds(self, value: float | None) -> str:
        """A time with its unit; below 0.1 s in milliseconds."""
        if value and abs(value) < 0.0995:
            return f"{value * 1000:.0f} {'毫秒' if self.is_chinese else 'ms'}"
        return f"{figure(value)} {'秒' if self.is_chinese else 's'}"

    def listed(self, names: Iterable[str]) -> str:
        """Several names in a row."""
        if self.is_chinese:
            return "、".join(names)
        *others, last = [*names] or [""]
        return f"{', '.join(others)} and {last}" if others else last

    def in_brackets(self, text: str) -> str:
        """An addition to a word; nothing for no text."""
        if not text:
            return ""
        return f"（{text}）" if self.is_chinese else f" ({text})"


def figure(value: float | None, digits: int = 1) -> str:
    """A number as people write it: whole from a hundred on; `-` where there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 99.95 else f"{value:.{digits}f}"


def printable(text: str) -> str:
    """The text in one line, without what a terminal would take as an order."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
