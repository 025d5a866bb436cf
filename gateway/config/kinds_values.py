"""What the problems of the text of a routing file and its single values mean, and what to do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.config.codes import Code
from gateway.config.kind import Kind, error
from gateway.words import Words

KINDS: Final[Mapping[Code, Kind]] = MappingProxyType(
    {
        Code.FILE_UNREADABLE: error(
            Words(
                "A running gateway can't read its routing file any more.",
                "运行中的网关无法再读取路由文件。",
            ),
            Words("Put it back.", "把文件放回原处。"),
        ),
        Code.NOT_UTF8: error(
            Words("The file is not UTF-8 text.", "文件不是 UTF-8 文本。"),
            Words("Save it as UTF-8.", "另存为 UTF-8。"),
        ),
        Code.EMPTY_FILE: error(
            Words("The file holds nothing.", "文件是空的。"),
            Words("Start from `config/minimal.yaml`.", "从 `config/minimal.yaml` 开始。"),
        ),
        Code.YAML_SYNTAX: error(
            Words("The text is not YAML.", "文本不是合法的 YAML。"),
            Words(
                "Mend the line; look at indentation, colons and quotes.",
                "改正该行；检查缩进、冒号和引号。",
            ),
        ),
        Code.YAML_TAB: error(
            Words("A tab stands where YAML wants spaces.", "YAML 要求空格的地方出现了制表符。"),
            Words("Replace tabs by spaces.", "把制表符换成空格。"),
        ),
        Code.YAML_TOO_LARGE: error(
            Words("The file is too large or too deeply nested.", "文件过大，或嵌套过深。"),
            Words("Look for a looping anchor.", "检查是否有循环引用的锚点。"),
        ),
        Code.YAML_UNSUPPORTED: error(
            Words(
                "A YAML tag or key that a routing file can't hold.",
                "路由文件不支持的 YAML 标签或键。",
            ),
            Words("Write plain values and keys.", "只写普通的值和键。"),
        ),
        Code.DUPLICATE_KEY: error(
            Words("A key is given twice in one mapping.", "同一个映射中某个键写了两次。"),
            Words("Keep one of the two.", "只保留一个。"),
        ),
        Code.NOT_A_MAPPING: error(
            Words("The top of the file is not `key: value`.", "文件顶层不是 `键: 值`。"),
            Words("Start from `config/minimal.yaml`.", "从 `config/minimal.yaml` 开始。"),
        ),
        Code.UNKNOWN_FIELD: error(
            Words("A field that does not exist.", "不存在的字段。"),
            Words("Correct the spelling or remove it.", "改正拼写，或删掉它。"),
        ),
        Code.MISSING_FIELD: error(
            Words("A required field is missing or empty.", "缺少必填字段，或其值为空。"),
            Words("Add it.", "补上它。"),
        ),
        Code.WRONG_TYPE: error(
            Words(
                "A value of the wrong kind, such as a number for a text.",
                "值的类型不对，例如该写文本却写了数字。",
            ),
            Words("Write the right kind.", "改成正确的类型。"),
        ),
        Code.BAD_NUMBER: error(
            Words("A number that can't be, such as zero seats.", "不可能的数字，例如并发数为零。"),
            Words("Correct it.", "改正数字。"),
        ),
        Code.BAD_CHOICE: error(
            Words("A word that is none of the allowed ones.", "取值不在允许的范围内。"),
            Words("Use one of those.", "使用允许的取值之一。"),
        ),
        Code.BAD_TEXT: error(
            Words(
                "A text that is empty, or has control characters or white space around it.",
                "文本为空，或含有控制字符，或首尾有空白。",
            ),
            Words("Correct the text.", "改正文本。"),
        ),
        Code.BAD_BACKEND_NAME: error(
            Words(
                "The name of a backend has a character that is not allowed.",
                "后端名称中有不允许的字符。",
            ),
            Words(
                "Use letters, digits, dot, underscore and hyphen.",
                "只使用字母、数字、点、下划线和连字符。",
            ),
        ),
        Code.BAD_MODEL_NAME: error(
            Words("The name of a model is too long.", "模型名称过长。"),
            Words("Shorten it.", "改短一些。"),
        ),
        Code.BAD_URL: error(
            Words("The address of a backend can't be used.", "后端地址无法使用。"),
            Words(
                "Write `http://host:port`, IPv6 in brackets, without query and password.",
                "写成 `http://host:port`；IPv6 加方括号，不带查询串和密码。",
            ),
        ),
        Code.BAD_VARIABLE_NAME: error(
            Words(
                "`api_key_env` is not the name of an environment variable.",
                "`api_key_env` 不是环境变量名。",
            ),
            Words(
                "Give the name of the variable, never the key itself.",
                "填写变量名，不要填写密钥本身。",
            ),
        ),
        Code.INLINE_API_KEY: error(
            Words(
                "A key stands in the file. Routing files are shown, copied and put into "
                "version control.",
                "密钥直接写在了文件里。路由文件会被展示、复制并提交到版本库。",
            ),
            Words(
                "Put it into a variable or a file and name that with `api_key_env` or "
                "`api_key_file`; then change the key, since it was written down.",
                "把它放进环境变量或文件，用 `api_key_env` 或 `api_key_file` 指定；"
                "密钥既已写出，还应更换。",
            ),
        ),
    }
)
