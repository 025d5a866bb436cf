"""The closed list of what adopting can find; each has its texts and severity in `texts_*`."""

from enum import StrEnum


class Code(StrEnum):
    """The stable name of a kind of finding."""

    # reading a source at all
    NOTHING_FOUND = "nothing_found"
    SOURCE_UNREADABLE = "source_unreadable"
    # shell
    VARIABLE_UNSET = "variable_unset"
    VARIABLE_DEFAULT = "variable_default"
    SHELL_NOT_FOLLOWED = "shell_not_followed"
    QUOTE_UNCLOSED = "quote_unclosed"
    # engine arguments
    OPTION_UNKNOWN = "option_unknown"
    OPTION_TWICE = "option_twice"
    VALUE_UNREADABLE = "value_unreadable"
    # manifests
    MANIFEST_UNREADABLE = "manifest_unreadable"
