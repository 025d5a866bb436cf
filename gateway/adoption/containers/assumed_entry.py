"""What an image starts by itself, where a container only gives arguments for it."""

from typing import Final

from gateway.adoption.engine.arguments import is_engine_command
from gateway.adoption.sources import Container

_MARKS: Final = frozenset(
    {
        "--model",
        "--served-model-name",
        "--served_model_name",
        "--tensor-parallel-size",
        "--tensor_parallel_size",
        "-tp",
        "--max-model-len",
        "--max_model_len",
        "--max-num-seqs",
        "--max_num_seqs",
        "--gpu-memory-utilization",
        "--gpu_memory_utilization",
    }
)
"""Options that no other server has."""


def with_entry(container: Container) -> tuple[str, ...]:
    """The container's command with the entrypoint that its image must have; () if it needs none.

    Images such as vllm/vllm-openai begin with `vllm serve` (older ones with the api_server module,
    which takes the same options), some of one's own with `vllm`.
    """
    argv = container.argv
    if not argv or is_engine_command(argv):
        return ()
    is_marked = any(word.partition("=")[0] in _MARKS for word in argv)
    is_vllm = "vllm" in container.image.lower()
    if argv[0] == "serve":
        return ("vllm", *argv) if is_marked or is_vllm else ()
    is_program = argv[0].endswith((".sh", ".py")) or "bin/" in argv[0]
    is_model = is_vllm and "/" in argv[0] and not is_program
    has_entry = is_marked and (argv[0].startswith("-") or is_model)
    return ("vllm", "serve", *argv) if has_entry else ()
