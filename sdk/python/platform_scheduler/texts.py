"""Texts within the bounds of the protocol."""

import re
from typing import Iterator

# The bounds of a line, a result or checkpoint, and a message, in bytes of UTF-8.
LINE, RESULT, MESSAGE = 8 << 10, 64 << 10, 4 << 10

_MARK = "…"

# What ends a line, and what follows one that the next line replaces, as on a terminal.
_END = re.compile("\r*\n|\r+")
_REPLACED = "\r"


def clean(text: str) -> str:
    """The text without half surrogates, which UTF-8 does not have."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def lines(text: str) -> Iterator[str]:
    """The lines of a text, each within its bound. One that carriage returns alone ended has one at its end."""
    at = 0
    for end in _END.finditer(text):
        mark = "" if end.group().endswith("\n") else _REPLACED
        yield cut(text[at : end.start()], LINE - len(mark)) + mark
        at = end.end()
    if at < len(text) or not text:
        yield cut(text[at:], LINE)


def cut(text: str, limit: int) -> str:
    """The text in at most limit bytes of UTF-8, whole characters alone, with a mark where something is missing."""
    text = clean(text)
    if len(text) * 4 <= limit:
        return text
    raw = text.encode("utf-8")
    if len(raw) <= limit:
        return text
    return raw[: limit - len(_MARK.encode())].decode("utf-8", "ignore") + _MARK
