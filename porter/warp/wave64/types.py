"""How many bits an integer type has, from its words."""

from __future__ import annotations

from collections.abc import Mapping

from porter.cpp.lex import Tokens

_WORDS = """
const volatile constexpr static inline register mutable thread_local extern __restrict__ __restrict restrict
__device__ __host__ __global__ __forceinline__ __noinline__ __inline__ __shared__ __attribute__ friend virtual
explicit typename [[ ]] nodiscard maybe_unused std :: &
"""
_NOT_TYPE = frozenset(_WORDS.split())
_INTEGER = frozenset({"unsigned", "signed", "int", "long", "short", "char"})
_BITS = {
    **dict.fromkeys(("uint64_t", "int64_t", "size_t", "uint64", "u64", "ulong", "ulonglong", "uintptr_t"), 64),
    **dict.fromkeys(("lane_mask", "lane_mask_type", "lanemask_t", "__hip_uint64_t"), 64),
    **dict.fromkeys(("uint32_t", "int32_t", "uint", "uint32", "u32", "__hip_uint32_t", "unsigned32"), 32),
    **dict.fromkeys(("uint16_t", "int16_t", "ushort"), 16),
    **dict.fromkeys(("uint8_t", "int8_t", "uchar"), 8),
}


def bits_of(words: list[str], aliases: Mapping[str, list[str]], depth: int = 0) -> int | None:
    """Bits of an integer type; None for any other, for pointers, `bool`, `auto`, and what is not known."""
    core = [word for word in words if word not in _NOT_TYPE]
    if not core or depth > 4 or "*" in core or "<" in core:
        return None
    if _INTEGER.issuperset(core):
        if "long" in core:
            return 64
        return 16 if "short" in core else 8 if "char" in core else 32
    if len(core) != 1:
        return None
    name = core[0].rpartition("::")[2]
    if name in aliases:
        return bits_of(aliases[name], aliases, depth + 1)
    return _BITS.get(name)


def aliases_of(tokens: Tokens) -> dict[str, list[str]]:
    """`using NAME = words;` and `typedef words NAME;` of a file."""
    texts = tokens.texts
    found: dict[str, list[str]] = {}
    for keyword in ("using", "typedef"):
        for index in tokens.names.get(keyword, ()):
            end = index + 1
            while end < min(len(tokens), index + 12) and texts[end] not in (";", "{", "}"):
                end += 1
            if texts[end] != ";":
                continue
            if keyword == "using" and texts[index + 2] == "=":
                name, words = texts[index + 1], texts[index + 3 : end]
            elif keyword == "typedef" and end - index > 2:
                name, words = texts[end - 1], texts[index + 1 : end - 1]
            else:
                continue
            found[name] = max(found.get(name, words), words, key=_bits_alone)
    return found


def _bits_alone(words: list[str]) -> int:
    """A mask that each vendor's branch names has the wider type in AMD's; what is not known may be as wide."""
    return bits_of(words, {}) or 64
