"""Whether an expression is only shown to a person."""

from __future__ import annotations

from porter.cpp.lex import Tokens

_PRINTS = frozenset(
    [
        "printf",
        "fprintf",
        "sprintf",
        "snprintf",
        "puts",
        "print",
        "println",
        "format",
        "log_info",
        "LOG",
        "VLOG",
        "TORCH_WARN",
        "fmt",
        "cout",
        "cerr",
        "clog",
        "ostringstream",
        "stringstream",
        "spdlog",
    ]
)


def is_printed(tokens: Tokens, index: int) -> bool:
    """Whether a token stands in the arguments of a printing call or in a chain of `<<` onto a stream."""
    texts = tokens.texts
    position = index
    while position >= 0 and texts[position] not in (";", "{", "}"):
        if texts[position] in (")", "]"):
            partner = tokens.partner.get(position)
            if partner is not None and partner < index:
                position = partner
        elif texts[position] in _PRINTS:
            return True
        position -= 1
    return False
