"""Arguments in one line: `in input: float32[rows, cols] = uniform(0, 1)`, `texture t: uint8[n] {memory=linear}`."""

from __future__ import annotations

import re
from typing import Any

_LINE = re.compile(
    r"(?P<kind>in|out|inout|scratch|scalar|null|texture|surface)\s+(?P<name>\w+(?:<[\w ,:*]+>)?)"
    r"(?:\s*:\s*(?P<dtype>\w+|\([^()]*\))\s*(?:\[(?P<shape>[^\]]*)\])?(?:\s*\{(?P<keys>[^}]*)\})?)?(?:\s*=\s*(?P<value>.+))?"
)
_CALL = re.compile(r"(uniform|integers|constant)\((.*)\)")
_FILE = re.compile(r"[\w./-]+\.npy")
_HOOK = re.compile(r"[\w./-]+\.py:\w+")


def expand(text: str) -> dict[str, Any]:
    """The table that the line stands for; raises ValueError."""
    match = _LINE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not KIND NAME: DTYPE[SHAPE] = VALUES")
    kind, value = match["kind"], match["value"]
    row: dict[str, Any] = {"name": match["name"], "kind": kind}
    if match["dtype"] is not None:
        row["dtype"] = match["dtype"]
    if match["shape"] is not None:
        row["shape"] = split(match["shape"])
    if match["keys"] is not None:
        row |= _keys(match["keys"])
    if value is None:
        return row
    if kind == "scalar":
        row["value"] = value
    else:
        row["values"] = _values(value.strip())
    return row


def _keys(text: str) -> dict[str, Any]:
    """`filter=linear, normalized, address=wrap/clamp`: words, numbers, flags and lists."""
    row: dict[str, Any] = {}
    for part in split(text):
        name, _, value = (word.strip() for word in part.partition("="))
        if not name.isidentifier() or name in row:
            raise ValueError(f"{part!r} is not KEY=VALUE, or its key stands twice")
        flags = {"": True, "true": True, "false": False}
        row[name] = value.split("/") if "/" in value else flags.get(value, _plain(value))
    return row


def _plain(value: str) -> int | str:
    return int(value) if re.fullmatch(r"[0-9]{1,18}", value) else value


def _values(text: str) -> Any:
    call = _CALL.fullmatch(text)
    if call is not None:
        parts = split(call[2])
        return {call[1]: parts[0] if call[1] == "constant" and len(parts) == 1 else parts}
    if _FILE.fullmatch(text):
        return {"file": text}
    return {"hook": text} if _HOOK.fullmatch(text) else text


def split(text: str) -> list[str]:
    """Parts between commas outside of parentheses."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []
