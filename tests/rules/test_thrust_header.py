"""What A015 says of Thrust's headers, against an installed rocThrust."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

import pytest
from porter.validation.toolchain.rocm_headers import fetched

from rules.names.thrust_header import BRINGS, DECLARES

FOLDERS = [
    *(Path(p) for p in os.environ.get("PORTER_TEST_HIP_INCLUDES", "").split(os.pathsep) if p),
    Path(os.environ.get("ROCM_PATH", "/opt/rocm")) / "include",
    *filter(None, [fetched()]),
]
TREE = next((folder for folder in FOLDERS if (folder / "thrust" / "system" / "hip").is_dir()), None)

if TREE is None:
    pytest.skip(
        "rocThrust is not installed (porter headers, ROCM_PATH, PORTER_TEST_HIP_INCLUDES)", allow_module_level=True
    )


@functools.cache
def reached(header: str) -> frozenset[str]:
    """Files of Thrust that a header includes, directly or not, itself among them."""
    assert TREE is not None
    seen: set[str] = set()
    waiting = [header]
    while waiting:
        name = waiting.pop()
        if name in seen or not (TREE / name).is_file():
            continue
        seen.add(name)
        text = (TREE / name).read_text("utf-8", errors="replace")
        waiting += re.findall(r"#\s*include <(thrust/[^>]+)>", text)
        waiting += [f"thrust/system/hip/{part}" for part in re.findall(r"DEVICE_SYSTEM_ROOT/([\w/]+\.h)", text)]
    return frozenset(seen)


@pytest.mark.parametrize("header", sorted(DECLARES))
def test_declared(header: str) -> None:
    """A header has each name that the table says it declares."""
    assert TREE is not None
    text = (TREE / "thrust" / f"{header}.h").read_text("utf-8", errors="replace")
    for name in DECLARES[header].split():
        assert re.search(rf"\b{name}\b", text), name


@pytest.mark.parametrize("header", sorted(BRINGS))
def test_brought(header: str) -> None:
    """A header includes each of those that are taken to be there with it."""
    missing = [name for name in BRINGS[header].split() if f"thrust/{name}.h" not in reached(f"thrust/{header}.h")]
    assert not missing
