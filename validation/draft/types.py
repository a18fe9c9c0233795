"""C++ types of parameters as element types of case files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.validation.cases.case import DTYPES as DTYPE_NAMES
from porter.validation.cases.records import members_of
from porter.validation.draft.host import Host
from porter.validation.draft.torch import DTYPES as TORCH_DTYPES

DTYPES = {
    "float": "float32", "double": "float64", "__half": "float16", "half": "float16", "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16", "int": "int32", "signed": "int32", "unsigned": "uint32", "unsigned int": "uint32",
    "short": "int16", "unsigned short": "uint16", "char": "int8", "signed char": "int8", "unsigned char": "uint8",
    "long": "int64", "long long": "int64", "unsigned long": "uint64", "unsigned long long": "uint64", "bool": "bool",
    "size_t": "uint64", "ptrdiff_t": "int64", "ssize_t": "int64", "uint": "uint32", "uchar": "uint8",
    "ushort": "uint16", "intptr_t": "int64", "uintptr_t": "uint64", "ulong": "uint64",
    "cufftReal": "float32", "cufftDoubleReal": "float64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
_VECTOR = re.compile(r"(float|double|int|uint|char|uchar|short|ushort|longlong|ulonglong|long|ulong)([1234])")
_PAIRS = {
    **dict.fromkeys(("half2", "__half2"), "float16"),
    **dict.fromkeys(("__nv_bfloat162", "nv_bfloat162"), "bfloat16"),
    **dict.fromkeys(("cuComplex", "cuFloatComplex", "cufftComplex"), "float32"),
    **dict.fromkeys(("cuDoubleComplex", "cufftDoubleComplex"), "float64"),
}
_ATOMIC = re.compile(r"cuda::(?:std::)?atomic(?:_ref)?\s*<([\w:\s]+)(?:,[^<>]*)?>")
_COMPLEX = re.compile(r"(?:(?:thrust|c10|at|cuda)::)?complex\s*<([\w:\s]+)>")
_SCALARS = {"longlong": "long long", "ulonglong": "unsigned long long"}
_QUALIFIERS = re.compile(
    r"\b(?:const|volatile|__restrict__|__restrict|restrict|typename|struct|class|__grid_constant__|(?:[A-Z]+_)*RESTRICT)\b|\bstd::"
)
BYTES = {"bool": 1, "bfloat16": 2}


@dataclass(frozen=True)
class Element:
    """What one element of an array is: so many of a type."""

    dtype: str
    lanes: int = 1

    @property
    def size(self) -> int:
        """Bytes."""
        return bytes_of(self.dtype) * self.lanes


def bytes_of(dtype: str) -> int:
    """Bytes of a type of case files."""
    if dtype.endswith(")"):
        return members_of("", dtype, DTYPE_NAMES)[0].size
    digits = re.search(r"\d+$", dtype)
    return BYTES.get(dtype) or (int(digits[0]) // 8 if digits else 1)


def bare(kind: str) -> str:
    """A type without pointers and qualifiers."""
    return " ".join(_QUALIFIERS.sub(" ", re.sub(r"[*&]|\[[^\]]*\]", " ", kind)).split())


def dtype_of(kind: str) -> str | None:
    """The type of case files that a plain C++ type is."""
    words = bare(kind)
    if torch := re.fullmatch(r"(?:at|c10|torch)::(\w+)", words):
        return TORCH_DTYPES.get(torch[1])
    return DTYPES.get(words) or DTYPES.get(words.removesuffix(" int"))


_MOST_MEMBERS = 64


def structure_of(host: Host, kind: str) -> str | None:
    """The type of case files that a structure with members of several types is."""
    layout = host.layout(bare(host.plain_type(bare(kind))))
    if layout is None or len(layout.members) > _MOST_MEMBERS:
        return None
    parts: list[str] = []
    taken: dict[str, int] = {}
    for member in layout.members:
        element = elements_of(host, member.kind)
        if element is None:
            return None
        taken[member.name] = taken.get(member.name, 0) + 1
        name = member.name if taken[member.name] == 1 else f"{member.name}_{taken[member.name]}"
        count = element.lanes * member.count
        plain = f"{element.dtype}{f'*{count}' if count > 1 else ''} {name}"
        as_it_comes = members_of("", f"({', '.join([*parts, plain])})", DTYPE_NAMES)[-1].offset
        parts.append(plain if as_it_comes == member.offset else f"{plain} @{member.offset}")
    text = f"({', '.join(parts)})"
    return text if bytes_of(text) == layout.size else f"({', '.join(parts)} /{layout.size})"


def elements_of(host: Host, kind: str) -> Element | None:
    """The elements behind a type: vectors and structures of one type are one more dimension."""
    words = bare(host.plain_type(bare(kind)))
    plain = dtype_of(words)
    if plain is not None:
        return Element(plain)
    if words in _PAIRS:
        return Element(_PAIRS[words], 2)
    if (inside := _ATOMIC.fullmatch(words)) is not None:
        return elements_of(host, inside[1].strip())
    if (inside := _COMPLEX.fullmatch(words)) is not None and "complex" not in host.types:
        part = dtype_of(host.plain_type(inside[1].strip()))
        return Element(part, 2) if part in ("float16", "float32", "float64") else None
    vector = _VECTOR.fullmatch(words)
    if vector is not None:
        return Element(DTYPES[_SCALARS.get(vector[1], vector[1])], int(vector[2]))
    if host.is_enumeration(words):
        return Element("int32")
    record = host.record(words)
    if record is None:
        return None
    members = [(elements_of(host, member), count) for member, count, _ in record[0]]
    kinds = {member.dtype for member, _ in members if member is not None}
    if len(kinds) != 1 or any(member is None for member, _ in members):
        return None
    lanes = sum(member.lanes * count for member, count in members if member is not None)
    element = Element(kinds.pop(), lanes)
    return element if element.size == record[1] else Element(element.dtype, record[1] // bytes_of(element.dtype))
