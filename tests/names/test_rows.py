"""The quick reader of the name tables."""

from __future__ import annotations

import sys

import pytest
from porter.rules.runtime.refused_call import RefusedCall

from porter.names.records import table_files
from porter.names.rows import read_rows

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.mark.parametrize("name", [entry.name for entry in table_files()])
def test_it_reads_what_toml_says(name: str) -> None:
    text = next(entry for entry in table_files() if entry.name == name).read_text("utf-8")
    assert read_rows(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        '[names]\na = { kind = "x", why = "a \\"quoted\\" = { word }, and \\\\" }\n"b::c" = { kind = "y" }\n',
        '[names]\na = { before = { "6.0" = "x", 7 = "y" }, kind = "z" }\n[headers]\n"d/e.h" = { hip = "f.h" }\n',
        '[names]\na = { kind = "x" } # told\nb = {kind="y"}\n',
        '[names.more]\na = { kind = "x" }\n',
        "",
    ],
)
def test_other_layouts_are_toml(text: str) -> None:
    assert read_rows(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ['[names]\na = { kind = "x" }\na = { kind = "x" }\n', "[names]\n[names]\n", "a = {"])
def test_mistakes_are_said(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        read_rows(text)


_STUBS = {
    "hipCtxGetApiVersion",
    "hipCtxGetCacheConfig",
    "hipCtxGetFlags",
    "hipCtxSetCacheConfig",
    "hipCtxSetSharedMemConfig",
    "hipCtxSynchronize",
    "hipDevicePrimaryCtxSetFlags",
    "hipGraphicsGLRegisterBuffer",
    "hipGraphicsGLRegisterImage",
    "hipMemMapArrayAsync",
    "hipProfilerStart",
    "hipProfilerStop",
    "hipSetValidDevices",
}
"""What ROCm declares, links, and answers with an error each time (on MI300X, which has no graphics)."""


def test_no_name_becomes_in_silence_what_rocm_never_does() -> None:
    rows = [row for entry in table_files() for row in read_rows(entry.read_text("utf-8")).get("names", {}).items()]
    stubs = [(name, row) for name, row in rows if isinstance(row, dict) and row.get("hip") in _STUBS]
    assert len(stubs) > 10
    assert [name for name, row in stubs if not row.get("signature")] == []


def test_each_such_name_is_told_in_code_that_is_amds_already() -> None:
    graphics = {name for name in _STUBS if "GraphicsGL" in name}
    assert RefusedCall.triggers == _STUBS - graphics
