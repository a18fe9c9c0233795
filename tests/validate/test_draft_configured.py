"""Headers that a project's build makes: what a draft takes from their templates, and how it says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.draft.configured import configured_headers, defines_of
from porter.validation.draft.includers import templates_of
from porter.validation.draft.init import draft
from porter.validation.draft.repairing import repair
from porter.validation.draft.trying import try_sizes

TEMPLATE = """#pragma once
#ifndef FX_CONFIG_H
#define FX_CONFIG_H
#define FX_IS(F) F() == 1
#define FX_FAST() @FX_FAST@  // an option
#cmakedefine FX_MPI
#cmakedefine01 FX_DOUBLE
#define FX_VERSION "@VERSION@"
#define FX_MAJOR ${MAJOR}
#define FX_ROWS 8
#endif
"""
SOURCE = """#include "fx/config.h"
#if FX_IS(FX_FAST)
__global__ void k(float* x) { x[threadIdx.x] = FX_ROWS; }
#endif
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("cmake", "src"):
        (tmp_path / name).mkdir()
    (tmp_path / "CMakeLists.txt").write_text("\n")
    (tmp_path / "cmake" / "config.h.in").write_text(TEMPLATE)
    (tmp_path / "src" / "k.cu").write_text(SOURCE)
    return tmp_path


def test_what_a_template_defines() -> None:
    off = ("FX_IS(F)=F() == 1", "FX_FAST()=0", "FX_DOUBLE=0", "FX_MAJOR=0", "FX_ROWS=8")
    assert defines_of(TEMPLATE) == off
    assert defines_of(TEMPLATE, "1") == tuple(one.replace("=0", "=1") for one in off)


def test_only_headers_that_are_missing_and_have_one_template(project: Path) -> None:
    source = project / "src" / "k.cu"
    (found,) = configured_headers(source, ("fx/config.h", "other.h"))
    assert (found.name, found.template) == ("fx/config.h", "config.h.in")
    (project / "src" / "config.h.in").write_text(TEMPLATE)
    templates_of.cache_clear()
    assert configured_headers(source, ("fx/config.h",)) == ()  # two, and nothing tells which


def test_off_first_then_on(project: Path) -> None:
    (part,) = draft(project / "src" / "k.cu", assuming=True).parts
    said = "header fx/config.h is not installed here: k.cu:1: fatal error: fx/config.h; cut out of it: "
    off = repair(part, said + "error")
    assert off is not None
    assert off.notes[-1] == "the build makes fx/config.h: taken from config.h.in, with every option off"
    assert any(line.startswith("defines = [") and '"FX_FAST()=0"' in line for line in off.after)
    on = repair(off, said + 'error: identifier "k" is undefined')
    assert on is not None and any('"FX_FAST()=1"' in line and '"FX_ROWS=8"' in line for line in on.after)
    assert "every option on" in on.notes[-1]
    assert repair(part, "header other.h is not installed here: ") is None


@pytest.mark.slow
def test_it_runs(project: Path) -> None:
    reason = registry.why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    (found,) = try_sizes(draft(project / "src" / "k.cu", assuming=True))
    assert found.chosen, found.reason
    assert "every option on" in found.text
