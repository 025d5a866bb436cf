"""The real bash as a judge: what it makes of words and scripts."""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

BASH = Path("/bin/bash")

needs_bash = pytest.mark.skipif(not BASH.exists(), reason="there is no /bin/bash to compare with")

# Every text is read in a subshell, so that none changes anything for the next one; what `launch`
# is called with is printed, with the variables that it would hand on to a real command.
_JUDGE = r"""
set -f
launch() {
  local name
  printf '%s\0' launch "$#" "$@"
  for name in $NAMES; do
    [[ -v $name && ${!name@a} == *x* ]] && printf '%s\0' "$name=${!name}"
  done
}
for text; do
  ( set --; eval "$text" ) 2>/dev/null </dev/null
  printf '%s\0' end
done
"""

Launched = tuple[tuple[str, ...], Mapping[str, str]]


def launched_by_bash(
    scripts: Sequence[str], environment: Mapping[str, str], names: Sequence[str] = ()
) -> list[list[Launched]]:
    """For each script, the arguments of all calls of `launch` and the exported ones of `names`."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [str(BASH), "--norc", "-c", _JUDGE, "bash", *scripts],
            env={**environment, "LC_ALL": "C.UTF-8", "NAMES": " ".join(names)},
            capture_output=True,
            cwd=empty,
            check=True,
        )
    fields = done.stdout.decode().split("\0")[:-1]
    found: list[list[Launched]] = [[]]
    index = 0
    while index < len(fields):
        if fields[index] == "end":
            found.append([])
            index += 1
            continue
        assert fields[index] == "launch"
        count = int(fields[index + 1])
        index += 2
        arguments = tuple(fields[index : index + count])
        index += count
        exported: dict[str, str] = {}
        while fields[index] not in {"launch", "end"}:
            name, _, value = fields[index].partition("=")
            exported[name] = value
            index += 1
        found[-1].append((arguments, exported))
    return found[:-1]
