"""Reads the arguments and expressions of a case file; ValueError and BadExpression say what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from porter.validation.cases.case import ADDRESS as POINTER
from porter.validation.cases.case import ARRAYS, DTYPES, KINDS, Argument, Field, Values
from porter.validation.cases.dtypes import is_float
from porter.validation.cases.expression import BadExpression, Expression
from porter.validation.cases.records import is_record, members_of, stored
from porter.validation.cases.sampling import ADDRESS, MEMORY, Sampling
from porter.validation.cases.structs import struct_layout
from porter.validation.cases.views import VIEWS

TODO = "TODO"
"""What `porter cases init` writes where it cannot tell; a file that still has it is refused."""
_ARGUMENT = {
    *("name", "kind", "dtype", "shape", "values", "value", "fields", "size"),
    *("layout", "pitch", "offset", "partial", "any_order", "plain", "view"),
}
_IMAGE = {"channels", "layered", "filter", "normalized", "read", "address", "memory", "access"}
_TEXELS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32")
_ACCESS = {"read": "in", "write": "out", "both": "inout"}
_SIMPLE_VALUES = ("normal", "bits", "arange")
_RANGES = ("uniform", "integers")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_VARIABLE = re.compile(r"[A-Za-z_]\w*(?:<[\w ,:*]+>)?")
"""`mask<float>`: a variable of a template."""
_LARGEST_STRUCT = 1 << 16
"""More than a kernel can be passed."""


_PLAIN = ("name", "kind", "dtype", "shape", "values", "plain")


def read_arguments(
    row: Mapping[str, Any], line: int, names: set[str], *, is_variable: bool = False
) -> tuple[Argument, ...]:
    """One argument, or the members of an array of structures; a variable may be one of a template."""
    dtype = row.get("dtype", "")
    if not isinstance(dtype, str) or not is_record(dtype) or TODO in str(row):
        return (read_argument(row, line, names, is_variable=is_variable),)
    if row.get("kind") not in ("in", "inout"):
        raise ValueError("an array of structures is in or inout")
    for key in row.keys() - set(_PLAIN):
        raise ValueError(f"{key} does not belong to an array of structures")
    if isinstance(row.get("values"), dict) and {"hook", "file"} & row["values"].keys():
        raise ValueError("hooks and files do not belong to an array of structures")
    made: list[Argument] = []
    for member in members_of(str(row.get("name")), dtype, DTYPES):
        sides = row.get("shape", [])
        listed = [*(sides if isinstance(sides, list) else [sides]), *([member.count] if member.count > 1 else [])]
        inner = {**row, "name": f"{row.get('name')}_{member.name}", "dtype": stored(member.dtype), "shape": listed}
        if member.dtype == POINTER:
            held = {**inner, "name": f"{inner['name']}_address", "kind": "in", "values": "zeros"}
            made.append(replace(read_argument(held, line, names), member=member, points_to=inner["name"]))
            continue
        if is_float(member.dtype) and isinstance(row.get("values"), dict) and "integers" in row["values"]:
            del inner["values"]
        made.append(replace(read_argument(inner, line, names), member=member))
    return tuple(made)


def read_argument(row: Mapping[str, Any], line: int, names: set[str], *, is_variable: bool = False) -> Argument:
    """One argument from its table; `names` are the symbols that it may use."""
    known = _ARGUMENT | _IMAGE if row.get("kind") in ("texture", "surface") else _ARGUMENT
    unknown = sorted(row.keys() - known)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    marked = [key for key, value in row.items() if TODO in str(value)]
    if marked:
        raise ValueError(f"{marked[0]} is still marked {TODO}: {row[marked[0]]!r}")
    name, kind = row.get("name"), row.get("kind")
    if not isinstance(name, str) or not (_VARIABLE if is_variable else _IDENTIFIER).fullmatch(name):
        raise ValueError("name is missing or no identifier")
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    dtype = row.get("dtype", "")
    if kind not in ("null", "struct") and dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}")
    if kind in ("texture", "surface"):
        return _image(row, line, names)
    if kind in ARRAYS:
        return _array(row, line, names)
    for key in ("shape", "values", "layout", "pitch", "offset", "partial", "any_order", "view"):
        if key in row:
            raise ValueError(f"{key} belongs to arrays, not to kind {kind!r}")
    if "size" in row and kind != "struct":
        raise ValueError(f"size belongs to structs, not to kind {kind!r}")
    if kind == "scalar":
        if "value" not in row:
            raise ValueError("value is missing")
        return Argument(name, kind, dtype, line, value=read_expression(row["value"], names))
    if kind == "struct":
        return _struct(row, line, names)
    return Argument(name, kind, "uint64", line)


def _struct(row: Mapping[str, Any], line: int, names: set[str]) -> Argument:
    size = row.get("size")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or not 0 < size <= _LARGEST_STRUCT):
        raise ValueError(f"size must be the struct's bytes, not {size!r}")
    made = Argument(row["name"], "struct", "", line, fields=_fields(row.get("fields"), names), size=size)
    struct_layout(made)
    return made


def _fields(rows: Any, names: set[str]) -> tuple[Field, ...]:
    if not isinstance(rows, list) or not rows:
        raise ValueError("fields must be a list of [dtype, value]")
    return tuple(_field(row, names) for row in rows)


def _field(row: Any, names: set[str]) -> Field:
    if not isinstance(row, list) or len(row) not in (2, 3) or row[0] not in (*DTYPES, POINTER):
        raise ValueError(f"fields: {row!r} is not [dtype, value], nor [dtype, value, byte]")
    kind, value, at = (*row, None)[:3]
    if at is not None and (isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < _LARGEST_STRUCT):
        raise ValueError(f"fields: {at!r} is no place in bytes")
    if kind != POINTER:
        return Field(kind, read_expression(value, names), at=at)
    if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value):
        raise ValueError(f"fields: {value!r} is not the name of an array")
    return Field(kind, array=value, at=at)


def behind_structs(read: tuple[Argument, ...], constants: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The arguments of a case, its arrays told from those that structs and variables point to; raises ValueError."""
    owners = {one.array: argument.name for argument in read for one in argument.fields if one.array}
    owners |= {one.points_to: one.parameter for one in (*read, *constants) if one.points_to}
    arrays = {one.parameter: one for one in read if one.is_array}
    for array, owner in owners.items():
        found = arrays.get(array)
        if found is None:
            raise ValueError(f"{owner}: no array is named {array!r}")
        if found.view is not None or found.image is not None:
            raise ValueError(f"{owner}: {array} is passed otherwise than by its address")
    return tuple(replace(one, behind=owners.get(one.parameter, "")) for one in read)


def _array(row: Mapping[str, Any], line: int, names: set[str]) -> Argument:
    kind, shape = row["kind"], row.get("shape")
    if shape is None:
        raise ValueError("shape is missing")
    for key in ("partial", "any_order", "plain"):
        if not isinstance(row.get(key, False), bool):
            raise ValueError(f"{key} must be true or false")
    if (row.get("partial") or row.get("any_order")) and kind not in ("out", "inout"):
        raise ValueError("partial and any_order belong to out and inout")
    if "values" in row and kind == "out":
        raise ValueError("kind 'out' takes no values: it is poisoned; what the kernel reads is in or inout")
    layout = row.get("layout", "row")
    if layout not in ("row", "column"):
        raise ValueError(f"layout must be row or column, not {layout!r}")
    view = row.get("view")
    if view is not None and view not in VIEWS:
        raise ValueError(f"view must be one of {', '.join(VIEWS)}, not {view!r}")
    sides = shape if isinstance(shape, list) else [shape]
    return Argument(
        name=row["name"],
        kind=kind,
        dtype=row["dtype"],
        line=line,
        shape=tuple(read_expression(side, names) for side in sides),
        values=_values(row.get("values"), row["dtype"], names) if "values" in row or kind in ("in", "inout") else None,
        layout=layout,
        pitch=read_expression(row["pitch"], names) if "pitch" in row else None,
        offset=read_expression(row["offset"], names) if "offset" in row else None,
        partial=row.get("partial", False),
        any_order=row.get("any_order", False),
        plain=row.get("plain", False),
        view=view,
    )


def _image(row: Mapping[str, Any], line: int, names: set[str]) -> Argument:
    """An array behind a texture or surface object."""
    is_surface = row["kind"] == "surface"
    if row["dtype"] not in _TEXELS:
        raise ValueError(f"dtype of a {row['kind']} must be one of {', '.join(_TEXELS)}, not {row['dtype']!r}")
    for key in ("layout", "pitch", "offset", "partial", "any_order", "view"):
        if key in row:
            raise ValueError(f"{key} belongs to arrays, not to kind {row['kind']!r}")
    for key in ("filter", "normalized", "read", "address", "memory") if is_surface else ("access",):
        if key in row:
            raise ValueError(f"{key} does not belong to kind {row['kind']!r}")
    kind = _one_of(row, "access", ("read", "write", "both"), "write") if is_surface else "read"
    plain = {key: value for key, value in row.items() if key not in _IMAGE} | {"kind": _ACCESS[kind]}
    return replace(_array(plain, line, names), image=_sampling(row, is_surface))


def _sampling(row: Mapping[str, Any], is_surface: bool) -> Sampling:
    channels, given = row.get("channels", 1), row.get("address", "clamp")
    if channels not in (1, 2, 4) or isinstance(channels, bool):
        raise ValueError(f"channels must be 1, 2 or 4, not {channels!r}")
    for key in ("layered", "normalized"):
        if not isinstance(row.get(key, False), bool):
            raise ValueError(f"{key} must be true or false")
    modes = given if isinstance(given, list) else [given] * 3
    if not 1 <= len(modes) <= 3 or any(mode not in ADDRESS for mode in modes):
        raise ValueError(f"address must be one or up to three of {', '.join(ADDRESS)}, not {given!r}")
    x, y, z = (*modes, "clamp", "clamp")[:3]
    sampling = Sampling(
        channels=channels,
        layered=row.get("layered", False),
        linear=_one_of(row, "filter", ("point", "linear"), "point") == "linear",
        normalized=row.get("normalized", False),
        fractions=_one_of(row, "read", ("element", "normalized_float"), "element") == "normalized_float",
        address=(x, y, z),
        memory=_one_of(row, "memory", MEMORY, "array"),
        surface=is_surface,
    )
    is_float = "float" in row["dtype"]
    if sampling.linear and not (is_float or sampling.fractions):
        raise ValueError("filter = 'linear' needs floats, or read = 'normalized_float'")
    if sampling.fractions and not is_float and row["dtype"].endswith("32"):
        raise ValueError("read = 'normalized_float' is for integers of 8 and 16 bits")
    return sampling


def _one_of(row: Mapping[str, Any], key: str, words: tuple[str, ...], usual: str) -> str:
    value = row.get(key, usual)
    if value not in words:
        raise ValueError(f"{key} must be one of {', '.join(words)}, not {value!r}")
    return str(value)


def _values(value: Any, dtype: str, names: set[str]) -> Values:
    if value is None:
        return _usual_values(dtype)
    if value == "zeros":
        return Values("constant", Expression("0"))
    if isinstance(value, str) and value in _SIMPLE_VALUES:
        return Values(value)
    if isinstance(value, dict) and len(value) == 1:
        ((kind, given),) = value.items()
        if kind in _RANGES and isinstance(given, list) and len(given) == 2:
            return Values(kind, read_expression(given[0], names), read_expression(given[1], names))
        if kind == "constant":
            return Values(kind, read_expression(given, names))
        if kind == "hook" and isinstance(given, str) and re.fullmatch(r"[^:]+:[A-Za-z_]\w*", given):
            return Values(kind, hook=given)
        if kind == "file" and isinstance(given, str) and given.endswith(".npy"):
            return Values(kind, hook=given)
    known = "'normal', 'bits', 'arange', 'zeros', { uniform = [a, b] }, { integers = [a, b] }, { constant = c }"
    raise ValueError(
        f"values must be one of {known}, {{ hook = 'file.py:function' }}, {{ file = 'x.npy' }}; not {value!r}"
    )


def _usual_values(dtype: str) -> Values:
    if "float" in dtype:
        return Values("normal")
    if dtype == "bool":
        return Values("integers", Expression("0"), Expression("2"))
    return Values("integers", Expression("0" if dtype.startswith("u") else "-100"), Expression("100"))


def read_expression(value: Any, names: set[str]) -> Expression:
    """A number or an expression over known symbols."""
    if isinstance(value, bool | int | float):
        expression = Expression(repr(value)) if value == value else Expression("nan")
    elif isinstance(value, str):
        expression = Expression(value)
    else:
        raise BadExpression(f"{value!r} is neither a number nor an expression")
    expression.check()
    unknown = sorted(expression.names - names)
    if unknown:
        raise BadExpression(f"unknown symbol {unknown[0]!r}; known are {', '.join(sorted(names)) or 'none'}")
    return expression
