"""Labels of a backend and selectors of a model: a small, immutable text-to-text mapping."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from gateway.config.fields import plain_text


class Labels(Mapping[str, str]):
    """An immutable, hashable mapping of label names to values, kept in order of name."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(sorted((values or {}).items()))

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Labels):
            return self._values == other._values
        return NotImplemented

    def __repr__(self) -> str:
        return f"Labels({self._values!r})"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        text = core_schema.no_info_after_validator_function(
            plain_text, core_schema.str_schema(strict=True, min_length=1)
        )
        as_dict = core_schema.dict_schema(text, text)
        from_dict = core_schema.no_info_after_validator_function(cls, as_dict)
        return core_schema.json_or_python_schema(
            json_schema=from_dict,
            python_schema=core_schema.no_info_before_validator_function(_as_plain, from_dict),
            serialization=core_schema.plain_serializer_function_ser_schema(dict),
        )


def _as_plain(value: object) -> object:
    return dict(value) if isinstance(value, Labels) else value
