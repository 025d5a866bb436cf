"""Texts for people in every language that the gateway speaks."""

from enum import StrEnum
from typing import NamedTuple


class Language(StrEnum):
    """A language that texts for people are written in."""

    EN = "en"
    ZH = "zh"


class Words(NamedTuple):
    """A text for people in every language."""

    en: str
    zh: str

    def spoken(self, language: Language) -> str:
        """The text in one language."""
        return self.zh if language is Language.ZH else self.en


def language_of(locale: str) -> Language:
    """The language for a locale's name such as `zh_CN.UTF-8`; English for anything else."""
    return Language.ZH if locale.lower().startswith("zh") else Language.EN
