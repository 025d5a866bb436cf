"""What engines tell in /metrics, written as the tests need it: true, old, odd or false."""

from dataclasses import dataclass, replace
from typing import Final

from tests.support.upstream import Exchange

NEW_NAME: Final = "kv_cache_usage_perc"
OLD_NAME: Final = "gpu_cache_usage_perc"
TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one server; `engines` share them out equally.

    `kv_ratio` None leaves the family out, `kv_tokens` None the one that tells the capacity.
    """

    running: float = 0.0
    waiting: float = 0.0
    kv_ratio: float | None = 0.0
    kv_name: str = NEW_NAME
    kv_tokens: int | None = None
    preemptions: float = 0.0
    prompt_tokens: float = 1000.0
    generation_tokens: float = 1000.0
    engines: int = 1
    name: str = "m1"

    def text(self) -> str:
        """The exposition, as vLLM writes it."""
        values = {
            "num_requests_running": self.running / self.engines,
            "num_requests_waiting": self.waiting / self.engines,
            "num_preemptions_total": self.preemptions / self.engines,
            "prompt_tokens_total": self.prompt_tokens / self.engines,
            "generation_tokens_total": self.generation_tokens / self.engines,
        }
        if self.kv_ratio is not None:
            values[self.kv_name] = self.kv_ratio
        lines: list[str] = []
        for family, value in values.items():
            kind = "counter" if family.endswith("_total") else "gauge"
            lines.append(f"# TYPE vllm:{family} {kind}")
            for engine in range(self.engines):
                labels = f'engine="{engine}",model_name="{self.name}"'
                lines.append(f"vllm:{family}{{{labels}}} {value}")
        if self.kv_tokens is not None:
            blocks = self.kv_tokens // 128
            lines.append("# TYPE vllm:cache_config_info gauge")
            lines += [
                f'vllm:cache_config_info{{block_size="128",engine="{engine}",'
                f'num_gpu_blocks="{blocks}"}} 1.0'
                for engine in range(self.engines)
            ]
        return "\n".join(lines) + "\n"


class Exposed:
    """A /metrics handler that tells the same figures until they are changed; counts its looks."""

    def __init__(self, figures: Figures) -> None:
        self.figures = figures
        self.looks = 0

    def change(self, **fields: float) -> None:
        """Tell other figures from now on."""
        self.figures = replace(self.figures, **fields)  # type: ignore[arg-type]

    async def __call__(self, exchange: Exchange) -> None:
        """Answer one look."""
        await exchange.answer(200, self.figures.text().encode(), content_type=TEXT)
        self.looks += 1
        exchange.upstream.changes.notify()
