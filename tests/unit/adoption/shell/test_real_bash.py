"""Whatever words and scripts are made of, they are read as the real bash reads them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adoption.shell.script import read_script
from gateway.adoption.shell.words import split_words
from tests.unit.adoption.shell.real_bash import launched_by_bash, needs_bash

# Of a variable without a value a reader can only say so, where bash takes it for empty.
GIVEN = {"X": "ex", "Y": "why"}
VARIABLES = {"A": "one", "B": "two words", "E": "", "N": "7", "P": "/models/Qwen3-8B.gguf"}
NAMES = ("A", "B", "N", "X", "Y")

PIECES = st.sampled_from(
    [
        *("a", "b1", "--max-num-seqs", "=", "8", ",", "/", "ü", "{", "}", "[", "]", "@", "%"),
        *("'single quoted'", "'a \"b\"'", "''", '""', '"a b"', r'"\"q\" \\ \$ \a"', '"it\'s"'),
        *(r"\ ", r"\"", r"\$", r"\\", r"\'", "\\\n", r"$'a\tb\x41\n'", r"$'it\'s'", '$"x y"'),
        *(
            '"$A"',
            "${A}",
            "${B}",
            '"$B"',
            "${E:-default}",
            "${E-unset}",
            "${U:-a b}",
            '"${U:-a b}"',
        ),
        *("${A:+set}", "${#B}", "${P##*/}", "${P%.*}", "${P/Qwen/Q}", "${B// /_}", "${P:1:6}"),
        *("$((N + 1))", "$((2*(N-3)))", "{a,b}", "x{1..3}", "{c,d}{1,2}", "${A^^}", "${P,,}"),
        *("'{\"k\": [1, 4]}'", '"{\\"k\\": \\"v\\"}"', "a#b", "~x", "--x={y,z}"),
    ]
)
BLANKS = st.sampled_from([" ", "  ", "\t", " \\\n "])
WORDS = st.lists(st.lists(PIECES, min_size=1, max_size=4).map("".join), max_size=6).flatmap(
    lambda words: st.lists(BLANKS, min_size=len(words), max_size=len(words)).map(
        lambda blanks: "".join(word + blank for word, blank in zip(words, blanks, strict=True))
    )
)
# Many at once, since each bash costs some milliseconds.
MANY = st.lists(WORDS, min_size=25, max_size=25)


@needs_bash
@settings(max_examples=40, deadline=None)
@given(MANY)
def test_words_are_split_as_bash_splits_them(lines: list[str]) -> None:
    told = launched_by_bash([f"launch {line}" for line in lines], VARIABLES)
    for line, calls in zip(lines, told, strict=True):
        if not calls:
            # bash takes it for a mistake; then it may be read in any way, but is read.
            continue
        ((arguments, _),) = calls
        assert split_words(line, VARIABLES) == arguments, line


STATEMENTS = st.sampled_from(
    [
        *("A=x", "export A=y", "export X", "X='a b'", "Y=$X-$A", 'export Y="$X"', "unset A"),
        *(
            "X+=z",
            "declare -x X=q",
            "set -a",
            "set +a",
            "Y=${Y:-fallback}",
            ": ${X:=new}",
            "N=$((N+1))",
        ),
        *(
            "ARGS=(--a 'b c')",
            "ARGS+=(--d)",
            "export A X",
            "local_only=1",
            "# a comment",
            "true && A=both",
        ),
        *('launch $A "$X"', "A=front launch $A", 'launch "${ARGS[@]}" end', "X=1 Y=2 launch"),
        *("launch a \\\n  b", "( A=sub; launch $A )", "{ launch group; }", "launch; launch twice"),
        *(
            "for i in 1 2; do launch $i; done",
            "f() { launch \"$1\" $#; }; f 'p q' r",
            "launch $N # no",
        ),
        *(
            "cat >/dev/null <<EOF\nlaunch not\nEOF",
            "eval 'launch ev $A'",
            "launch err 2>&1",
            "launch {1..2}",
        ),
    ]
)
SCRIPTS = st.lists(st.lists(STATEMENTS, max_size=7).map("\n".join), min_size=12, max_size=12)


@needs_bash
@settings(max_examples=40, deadline=None)
@given(SCRIPTS)
def test_scripts_launch_what_bash_launches(scripts: list[str]) -> None:
    given_all = {**VARIABLES, **GIVEN}
    told = launched_by_bash(scripts, given_all, NAMES)
    for text, calls in zip(scripts, told, strict=True):
        read = read_script(text, "x.sh", environment=given_all)
        found = [
            (c.argv[1:], {n: c.environment[n] for n in NAMES if n in c.environment})
            for c in read.commands
            if c.argv and c.argv[0] == "launch"
        ]
        assert found == calls, text


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    script = read_script(text, "x")
    assert all(command.argv for command in script.commands)


@given(st.lists(st.one_of(PIECES, STATEMENTS, st.sampled_from("'\"`$(){}<>|&;\n")), max_size=12))
def test_any_pieces_of_scripts_are_read(pieces: list[str]) -> None:
    read_script("".join(pieces), "x")
