"""The commands that run another command, and how their command lines are built."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Wrapper(NamedTuple):
    """How a wrapper's command line is built.

    `letters` and `names` are the options with a value. `operands` words stand between the options
    and the command. With `has_assignments` there may be `NAME=value` before it. `queries` are
    options with which nothing is run.
    """

    letters: str = ""
    names: frozenset[str] = frozenset()
    operands: int = 0
    has_assignments: bool = False
    queries: frozenset[str] = frozenset()


def _wrapper(
    letters: str = "",
    names: str = "",
    operands: int = 0,
    *,
    has_assignments: bool = False,
    queries: str = "",
) -> Wrapper:
    long = frozenset(names.split())
    return Wrapper(letters, long, operands, has_assignments, frozenset(queries))


# Manual pages of coreutils 9, util-linux 2.39, sudo 1.9, numactl 2.0, systemd 255.
WRAPPERS: Final[Mapping[str, Wrapper]] = {
    "nohup": _wrapper(),
    "setsid": _wrapper(),
    "unbuffer": _wrapper(),
    "builtin": _wrapper(),
    "busybox": _wrapper(),
    "prlimit": _wrapper(queries="p"),
    "command": _wrapper(queries="vV"),
    "exec": _wrapper("a"),
    "time": _wrapper("fo", "format output"),
    "timeout": _wrapper("ks", "kill-after signal", 1),
    "numactl": _wrapper(
        "iPpmwNC",
        "interleave weighted-interleave preferred preferred-many physcpubind cpunodebind membind",
        queries="sH",
    ),
    "taskset": _wrapper(operands=1, queries="p"),
    "stdbuf": _wrapper("ioe", "input output error"),
    "nice": _wrapper("n", "adjustment"),
    "ionice": _wrapper("cn", "class classdata", queries="pPu"),
    "chrt": _wrapper("TPD", "sched-runtime sched-period sched-deadline", 1, queries="pm"),
    "sudo": _wrapper(
        "ughpCrtTUDR",
        "user group host prompt close-from chdir chroot role type other-user command-timeout",
        has_assignments=True,
        queries="lvkKe",
    ),
    "doas": _wrapper("uC"),
    "gosu": _wrapper(operands=1),
    "su-exec": _wrapper(operands=1),
    "tini": _wrapper("pe"),
    "dumb-init": _wrapper("r", "rewrite"),
    "flock": _wrapper("wE", "timeout conflict-exit-code", 1),
    "systemd-inhibit": _wrapper("", "what who why mode"),
    "systemd-run": _wrapper(
        "upMHtE",
        "unit property description slice uid gid nice working-directory setenv service-type"
        " machine host",
    ),
}
# What runs a command with `run`, in an environment of its own.
RUNNERS: Final[Mapping[str, Wrapper]] = {
    "conda": _wrapper("np", "name prefix cwd"),
    "mamba": _wrapper("np", "name prefix cwd"),
    "micromamba": _wrapper("npre", "name prefix root-prefix env cwd"),
    "uv": _wrapper("p", "python with extra project directory env-file"),
    "poetry": _wrapper("CP", "directory project"),
}
