"""How what is found in shell scripts is told."""

from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.texts import Severity, Text, Texts
from gateway.words import Words

SHELL: Final[Texts] = MappingProxyType(
    {
        Code.VARIABLE_UNSET: Text(
            Severity.GUESS,
            Words(
                "{variable} has no value in the script, so the command was read with nothing in "
                "its place",
                "脚本里没有给 {variable} 赋值，读取命令时此处按空处理",
            ),
            Words(
                "Set {variable} in the script, or check the values of this backend that come from "
                "the command by hand.",
                "在脚本中给 {variable} 赋值，或手工核对该后端来自这条命令的各项值。",
            ),
        ),
        Code.VARIABLE_DEFAULT: Text(
            Severity.NOTE,
            Words(
                "{variable} is not set, its default {value} was taken",
                "{variable} 未设置，取默认值 {value}",
            ),
            Words(
                "If the script is started with another value of {variable}, correct what follows "
                "from it.",
                "如果启动脚本时 {variable} 另有取值，请修改由它得出的各项。",
            ),
        ),
        Code.SHELL_NOT_FOLLOWED: Text(
            Severity.NOTE,
            Words(
                "{what} was not followed: what it gives is only known when the script runs, or "
                "stands in another file",
                "未跟进 {what}：它的结果要到脚本运行时才知道，或者写在别的文件里",
            ),
            Words(
                "If it is a file, give it as a source too. Otherwise check the values that depend "
                "on it.",
                "如果它是文件，请把该文件也一并作为输入；否则请核对依赖它的各项值。",
            ),
        ),
        Code.QUOTE_UNCLOSED: Text(
            Severity.TRAP,
            Words(
                "{quote} is opened here and never closed; bash runs nothing from this command on",
                "此处的 {quote} 没有闭合，bash 不会执行从这条命令开始的任何内容",
            ),
            Words(
                "Close it. Check with `bash -n FILE`, which reads a script without running it.",
                "补上闭合符号，并用 `bash -n 文件` 检查（只解析，不执行）。",
            ),
        ),
        Code.SHELL_SYNTAX: Text(
            Severity.TRAP,
            Words(
                "bash can't read the script from here on, near: {near}",
                "bash 从这里开始无法解析脚本，位置在：{near}",
            ),
            Words(
                "Correct it until `bash -n FILE` says nothing. What comes later was read all the "
                "same.",
                "修改脚本，直到 `bash -n 文件` 不再报错。其后的内容仍已读取。",
            ),
        ),
        Code.SHELL_TOO_MUCH: Text(
            Severity.NOTE,
            Words(
                "the script is more than is read here (limit: {limit}); something may be left out",
                "脚本超出可读取的范围（上限：{limit}），可能有内容未读到",
            ),
            Words(
                "Give the part that starts the servers as a script of its own.",
                "把启动服务的部分单独存成一个脚本再读取。",
            ),
        ),
        Code.LINE_ENDS_DOS: Text(
            Severity.TRAP,
            Words(
                "the lines end as on Windows (CR LF); bash takes the CR for a part of the last "
                "word, and a backslash before it continues nothing. It was read as if they did not",
                "脚本是 Windows 换行（CR LF）：bash 会把 CR 算进行尾的单词，行尾反斜杠也不再续行。"
                "此处按普通换行读取",
            ),
            Words(
                "Convert the file: sed -i 's/\\r$//' FILE.",
                "转换文件：sed -i 's/\\r$//' 文件。",
            ),
        ),
        Code.LINE_NOT_CONTINUED: Text(
            Severity.TRAP,
            Words(
                "bash takes {option} for a command: the line before is not continued, so the "
                "options from here on are never passed",
                "bash 把 {option} 当成了命令：上一行没有续行，从这里开始的参数都不会传给前面的命令",
            ),
            Words(
                "End the line before with a backslash and nothing behind it; leave no comment and "
                "no empty line between the lines of a command.",
                "上一行以反斜杠结尾且其后不留任何字符；同一条命令的各行之间不要有注释或空行。",
            ),
        ),
        Code.BLANK_AFTER_BACKSLASH: Text(
            Severity.TRAP,
            Words(
                "there are blanks behind the backslash at the end of the line: the command ends "
                "here and gets a blank as its last argument",
                "行尾反斜杠后面有空格：命令到此结束，还会多出一个空格参数",
            ),
            Words(
                "Remove the blanks behind the backslash: sed -i 's/\\\\[[:blank:]]*$/\\\\/' FILE.",
                "删除反斜杠后的空格：sed -i 's/\\\\[[:blank:]]*$/\\\\/' 文件。",
            ),
        ),
        Code.TYPOGRAPHIC_CHARACTER: Text(
            Severity.TRAP,
            Words(
                "{character} is an ordinary character to bash, neither a quote nor a blank nor "
                "the dash of an option",
                "{character} 在 bash 里只是普通字符，不是引号、空格，也不是参数前的横线",
            ),
            Words(
                "Type it as plain ASCII. It comes from copying out of a web page or a document.",
                "改成 ASCII 字符。这类字符多半是从网页或文档复制来的。",
            ),
        ),
    }
)
