"""Macros that open and close namespaces in CUB, Thrust, libcu++, cooperative groups, hipCUB and their kin."""

from __future__ import annotations

import re

_BEGIN = re.compile(r"_(?:CCCL|LIBCUDACXX)_BEGIN_NAMESPACE_(\w+)")
_END = re.compile(r"_(?:CCCL|LIBCUDACXX)_END_NAMESPACE_\w+")
_WORDS = {
    "CUB_NAMESPACE_BEGIN": ["cub"],
    "CUB_NAMESPACE_END": [],
    "THRUST_NAMESPACE_BEGIN": ["thrust"],
    "THRUST_NAMESPACE_END": [],
    "THRUST_BEGIN_NS": ["thrust"],
    "THRUST_END_NS": [],
    "BEGIN_HIPCUB_NAMESPACE": ["hipcub"],
    "END_HIPCUB_NAMESPACE": [],
    "_CG_BEGIN_NAMESPACE": ["cooperative_groups"],
    "_CG_END_NAMESPACE": [],
    "_LIBCUDACXX_BEGIN_NAMESPACE_STD": ["cuda", "std"],
    "_CCCL_BEGIN_NAMESPACE_STD": ["cuda", "std"],
    "_LIBCUDACXX_BEGIN_NAMESPACE_STD_NOVERSION": ["cuda", "std"],
    "_LIBCUDACXX_BEGIN_NAMESPACE_FILESYSTEM": ["cuda", "std", "filesystem"],
    "_CUDA_VSTD_BEGIN": ["cuda", "std"],
}
_IGNORED = frozenset({"NOVERSION", "ABI", "V4"})


def ccl_namespaces(word: str) -> list[str] | None:
    """Namespace components that a macro opens; [] when it closes what the last one opened; None for other words."""
    if word in _WORDS:
        return _WORDS[word]
    if opened := _BEGIN.fullmatch(word):
        parts = [part.lower() for part in opened.group(1).split("_") if part not in _IGNORED]
        return parts if parts[:1] == ["cuda"] else ["cuda", "std", *parts]
    return [] if _END.fullmatch(word) else None
