import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.containers.transcript import (
    LEAVE,
    MAX_BLOCKS,
    Block,
    blocks_in,
    looks_like_markdown,
    with_leaves,
    without_prompts,
)

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("$ ls\nfile\n$ pwd\n/x", "ls\n\npwd\n"),
        ("[root@host ~]# ls\nfile", "ls\n"),
        ("root@abc:/workspace# vllm serve /m \\\n> --port 1\nINFO", "vllm serve /m \\\n--port 1\n"),
        ("(base) user@host:~$ ls", "ls"),
        ("$ bash -c '\nls\n'\nout", "bash -c '\nls\n'\n"),
        ("$ cat <<EOF\na\nEOF\nout", "cat <<EOF\na\nEOF\n"),
        ("$ cat <<-'A' <<B\n1\nA\n2\nB\nout", "cat <<-'A' <<B\n1\nA\n2\nB\n"),
        ("$ ls # it's\nout", "ls # it's\n"),
        ("$ echo \\'\nout", "echo \\'\n"),
        ("# docker ps\nCONTAINER\n# vllm serve /m", "docker ps\n\nvllm serve /m"),
        ("# docker run old\ndocker run new", "# docker run old\ndocker run new"),
        ("# just a comment\nls", "# just a comment\nls"),
        ("\n# docker ps\n", "\ndocker ps\n"),
        ("# docker exec into it\n./serve.sh", "# docker exec into it\n./serve.sh"),
        ("# vllm serve old\nM=x\n", "# vllm serve old\nM=x\n"),
        ("ls\n# docker ps", "ls\n# docker ps"),
        ("[ -f x ] # check\nls", "[ -f x ] # check\nls"),
        ("$SUDO docker run x", "$SUDO docker run x"),
        ("ls", "ls"),
        ("", ""),
    ],
)
def test_prompts(text: str, commands: str) -> None:
    assert without_prompts(text) == commands


def test_an_exit_only_leaves_what_was_entered() -> None:
    assert with_leaves("exit\nexit 1\n exit\nexit \n") == f"{LEAVE}\nexit 1\n exit\n{LEAVE} \n"


@UNHURRIED
@given(st.text(alphabet="$# a@b:[]'\\\n<>E", max_size=60))
def test_lines_stay_where_they_are(text: str) -> None:
    assert without_prompts(text).count("\n") == text.count("\n")


MARKDOWN = """\
# Title
```bash
a
```
- item

  ~~~ yaml title="x"
  b:
    c
  ~~~
> ```console
> $ d
> ```
````python
```
x
````
```{code-block} bash
:name: y
e
```
```
f
"""


def test_blocks() -> None:
    assert list(blocks_in(MARKDOWN)) == [
        Block("shell", "a", 3),
        Block("yaml", "b:\n  c", 8),
        Block("shell", "$ d", 12),
        Block("shell", ":name: y\ne", 19),
    ]


@pytest.mark.parametrize(
    ("info", "kind"),
    [
        ("", ""),
        ("sh", "shell"),
        ("shell-session", "shell"),
        ("Bash", "shell"),
        ("bash {highlight=1}", "shell"),
        ("yml", "yaml"),
        ("json", "json"),
        ("ini", "unit"),
        ("dockerfile", "dockerfile"),
        ("text", ""),
        (".sh", "shell"),
    ],
)
def test_kinds_of_blocks(info: str, kind: str) -> None:
    assert list(blocks_in(f"```{info}\nx\n```\n")) == [Block(kind, "x", 2)]


@pytest.mark.parametrize("info", ["python", "go", "diff", "mermaid"])
def test_blocks_of_other_languages_are_left_out(info: str) -> None:
    assert not looks_like_markdown(f"```{info}\nx\n```\n")


def test_blocks_are_counted() -> None:
    assert len(list(blocks_in("```\nx\n```\n" * (MAX_BLOCKS + 9)))) == MAX_BLOCKS


@UNHURRIED
@given(st.text(alphabet="`~ bash>-\nx1.", max_size=80))
def test_any_text_is_read(text: str) -> None:
    lines = text.split("\n")
    for block in blocks_in(text):
        assert block.line + block.text.count("\n") <= len(lines)
