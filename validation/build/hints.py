"""Why the compiler does not know a name or a header: what is installed is too old for it, or lacks it."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from porter.validation.toolchain.rocm_headers import LIBRARIES, fetched

_UNKNOWN = re.compile(
    r"(?:undeclared identifier|unknown type name|no (?:type|member|template) named|no matching function for call to) "
    r"'(?P<name>(?:hip|HIP|nccl|rocrand|miopen)\w+)'"
)
_VERSION = re.compile(r"^#define HIP_VERSION_(MAJOR|MINOR)\s+(\d+)", re.MULTILINE)


def hint_on(message: str, headers: Path | None) -> str | None:
    """One sentence about the name in an error, or None."""
    found = _UNKNOWN.search(message)
    here = installed_rocm(headers) if headers is not None and found is not None else None
    if found is None or here is None:
        return None
    since = _since().get(found["name"])
    if since is None or _number(since) <= here:
        return None
    return f"{found['name']} is in ROCm since {since}, the headers here are of {here[0]}.{here[1]}"


def why_absent(header: str) -> str:
    """A sentence on a header that no folder has."""
    said = f"{header} is neither in the tree nor installed"
    is_library = header.partition("/")[0] in LIBRARIES and "/" in header
    return f"{said}; `porter headers` fetches it" if is_library and fetched() is None else said


@functools.lru_cache(maxsize=8)
def installed_rocm(headers: Path) -> tuple[int, int] | None:
    """The version of HIP's headers in a folder."""
    try:
        found = dict(_VERSION.findall((headers / "hip" / "hip_version.h").read_text("utf-8", "replace")))
        return int(found["MAJOR"]), int(found["MINOR"])
    except (OSError, KeyError):
        return None


@functools.cache
def _since() -> dict[str, str]:
    """HIP name -> the oldest ROCm that has it, from the name tables."""
    from porter.names.table import load_names

    return {row.hip: row.since for row in load_names(None, {}).rows() if row.hip and row.since}


def _number(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor or 0)
