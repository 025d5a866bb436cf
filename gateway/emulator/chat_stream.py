"""The events of a chat stream."""

from collections.abc import Iterable
from typing import Any

from gateway.emulator import generating
from gateway.emulator.call import Call, EventStream
from gateway.emulator.chat_plan import ChatPlan
from gateway.emulator.driver import Run
from gateway.emulator.records import Token
from gateway.emulator.thinking import ThinkSplitter


class Chunks:
    """The chunks of one stream."""

    def __init__(self, call: Call, plan: ChatPlan, stream: EventStream, run: Run) -> None:
        self._plan = plan
        self._stream = stream
        self._run = run
        self._fingerprint = call.server.spec.system_fingerprint
        self._made = [0] * plan.n
        self._splitters = [ThinkSplitter(thinking=plan.thinking) for _ in range(plan.n)]
        self._head = {
            "id": plan.id,
            "object": "chat.completion.chunk",
            "created": plan.created,
            "model": plan.model,
        }

    async def send(self) -> None:
        """Roles, deltas, usage, [DONE]."""
        left = self._plan.n
        greeted = False
        while left:
            index, token = await self._run.next()
            if not greeted:
                greeted = True
                self._greet()
            if token.finish != "abort":
                self._made[index] += 1
            for delta, last in self._deltas(index, token):
                self._chunk(index, token, delta, last=last)
            if token.finish is not None:
                left -= 1
        if self._plan.options.include_usage:
            self._stream.data(
                {
                    **self._head,
                    "choices": [],
                    "usage": generating.usage(len(self._plan.prompt), sum(self._made)),
                    "system_fingerprint": self._fingerprint,
                }
            )
        self._stream.done()

    def _greet(self) -> None:
        plan = self._plan
        for index in range(plan.n):
            choice = {
                "index": index,
                "delta": {"role": "assistant", "content": ""},
                "logprobs": None,
                "finish_reason": None,
            }
            self._stream.data(
                {
                    **self._head,
                    "choices": [choice],
                    **self._usage(index),
                    "prompt_token_ids": plan.prompt if plan.token_ids else None,
                    "prompt_text": None,
                }
            )
            if plan.tool is not None:
                call = {
                    "id": f"chatcmpl-tool-{plan.id[-16:]}",
                    "type": "function",
                    "index": 0,
                    "function": {"name": plan.tool.name},
                }
                delta = {"content": None, "tool_calls": [call]}
                self._chunk(index, None, delta, last=False)

    def _deltas(self, index: int, token: Token) -> Iterable[tuple[dict[str, Any], bool]]:
        """The deltas of one token, and whether each is the last of its choice."""
        ended = token.finish is not None
        if self._plan.tool is not None:
            call = {"index": 0, "function": {"arguments": token.text}}
            if token.text:
                yield {"content": None, "tool_calls": [call]}, False
            if ended:
                yield {}, True
            return
        reasoning, content = self._splitters[index].feed(token.text, final=ended)
        if reasoning:
            yield {"reasoning": reasoning}, ended and not content
        if content or not (reasoning or ended):
            yield {"content": content}, ended
        elif ended and not reasoning:
            yield {}, True

    def _chunk(self, index: int, token: Token | None, delta: dict[str, Any], *, last: bool) -> None:
        plan = self._plan
        logprobs = None
        if plan.logprobs is not None and token is not None and not generating.is_end(token):
            logprobs = generating.chat_logprobs([token.id], plan.logprobs)
        choice: dict[str, Any] = {
            "index": index,
            "delta": delta,
            "logprobs": logprobs,
            "finish_reason": self._finish(token) if last else None,
        }
        if last:
            choice["stop_reason"] = token.stop_reason if token else None
        choice["token_ids"] = [token.id] if plan.token_ids and token is not None else None
        event: dict[str, Any] = {**self._head, "choices": [choice], **self._usage(index)}
        if last and not plan.options.include_usage:
            event["system_fingerprint"] = self._fingerprint
        self._stream.data(event)

    def _finish(self, token: Token | None) -> str | None:
        finish = token.finish if token else None
        if self._plan.tool is not None and finish == "stop":
            return self._plan.tool.finish
        return finish

    def _usage(self, index: int) -> dict[str, Any]:
        if not self._plan.options.continuous_usage:
            return {}
        counts = generating.usage(len(self._plan.prompt), self._made[index])
        return {"usage": {**counts, "completion_tokens_details": None}}
