"""What PyTorch's types in a kernel's parameters and launches say to `porter cases init`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.validation.cases.shorthand import split

from porter.cpp.constants import number as integer

DTYPES = {"Half": "float16", "BFloat16": "bfloat16"}
"""c10's and at's types, without their namespace."""
_VIEW = re.compile(
    r"(?:\w+::)*(?P<name>(?:Generic)?PackedTensorAccessor(?:32|64)?|TensorInfo)\s*<(?P<inside>.*)>", re.DOTALL
)
_WIDE = re.compile(r"64|size_t|long")
_DISPATCH = re.compile(r"\bAT_DISPATCH_(\w+)\s*\(")
_COMPUTED = re.compile(r"(?:at::)?(?:acc_type|opmath_type|AccumulateType|OpMathType)\b")


@dataclass(frozen=True)
class View:
    """A parameter that is an accessor or TensorInfo."""

    kind: str
    """As a case names it: `accessor32`."""
    element: str
    """Its C++ type, as written."""
    dimensions: int


def view_in(kind: str) -> View | None:
    """The accessor or TensorInfo that a parameter's type is."""
    match = _VIEW.search(kind)
    if match is None:
        return None
    parts = split_types(match["inside"])
    if match["name"] == "TensorInfo":
        index = parts[1] if len(parts) > 1 else "int64_t"
        return View(f"tensor_info{_width(index)}", parts[0], 1)
    named = re.search(r"(?:32|64)$", match["name"])
    width = named[0] if named else _width(parts[3] if len(parts) > 3 else "int64_t")
    count = parts[1] if len(parts) > 1 else ""
    return View(f"accessor{width}", parts[0], integer(count) or 1)


def _width(index: str) -> str:
    return "64" if _WIDE.search(index) else "32"


def split_types(text: str) -> list[str]:
    """Template arguments: parts between commas outside of brackets."""
    return [part.replace("\0", ",") for part in split(_hide(text))]


def _hide(text: str) -> str:
    made, depth = "", 0
    for char in text:
        depth += {"<": 1, ">": -1}.get(char, 0)
        made += "\0" if char == "," and depth else char
    return made


def dispatched(argument: str, host: str) -> str | None:
    """The type that a case starts with for `scalar_t` inside AT_DISPATCH_*, and for what is computed from it."""
    found = _DISPATCH.findall(host)
    if not found or not re.search(r"\bscalar_t\b|\bacc(?:scalar)?_t\b|\bopmath_t\b", argument):
        return None
    if found[-1].startswith("INTEGRAL"):
        return "int"
    return "float" if re.fullmatch(r"\w+", argument) or _COMPUTED.search(argument) else None
