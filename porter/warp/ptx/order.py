"""The order of an opcode's modifiers: ptxas takes `add.f32.ftz` for `add.ftz.f32`."""

from __future__ import annotations

_ORDER = (
    *("sync", "volatile", "weak", "relaxed", "acquire", "release", "acq_rel", "sc", "cta", "cluster", "gpu", "sys"),
    *("global", "shared", "local", "const"),
    *("bfly", "up", "down", "idx", "ballot", "any", "all", "uni"),
    *(
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "equ",
        "neu",
        "ltu",
        "leu",
        "gtu",
        "geu",
        "num",
        "nan",
        "lo",
        "hi",
        "ls",
        "hs",
    ),
    *("and", "or", "xor", "add", "inc", "dec", "min", "max", "exch", "cas", "wide", "cc"),
    *("approx", "full", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "NaN", "sat"),
)
"""As NVIDIA's manual writes them. Words that would mean something else elsewhere (`row.col`) are not here."""
_OTHERWISE = ("match", "bar", "v")
"""`match.any.sync`, `bar.cta.sync`; video instructions (all that begin so but `vote`) have operations behind types."""
_RANK = {word: rank for rank, word in enumerate(_ORDER)}
_TYPES = frozenset(f"{letter}{bits}" for letter in "bsu" for bits in (8, 16, 32, 64)) | {
    "f16",
    "f16x2",
    "bf16",
    "bf16x2",
    "f32",
    "f64",
    "b128",
}


def in_order(opcode: str) -> str:
    """The opcode as the manual orders its modifiers, types last and in the order that they have; itself where one of
    them is not known."""
    base, *modifiers = opcode.split(".")
    types = [word for word in modifiers if word in _TYPES]
    others = [word for word in modifiers if word not in _TYPES]
    if (base.startswith(_OTHERWISE) and base != "vote") or not _RANK.keys() >= set(others):
        return opcode
    return ".".join((base, *sorted(others, key=_RANK.__getitem__), *types))
