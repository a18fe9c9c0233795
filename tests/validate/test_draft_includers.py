"""Headers that only compile after what their includer includes before them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.cases.file import load_cases
from porter.validation.draft.includers import included_first
from porter.validation.draft.init import draft
from porter.validation.draft.repairing import repair
from porter.validation.draft.trying import text_of, try_sizes

from tests.validate.running import by_name, devices, run

KERNEL = """
template <typename T> __global__ void scaled(const T* from, T* to, Factor by) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = times(from[threadIdx.x], by);
}
"""


def project(folder: Path) -> Path:
    """`main.cu` includes a helper, and then the header with the kernel."""
    (folder / "src" / "detail").mkdir(parents=True)
    (folder / "src" / "base.h").write_text("typedef float Factor;\n")
    (folder / "src" / "helper.h").write_text("template <typename T> __device__ T times(T a, T b) { return a * b; }\n")
    (folder / "src" / "main.cu").write_text('#include "base.h"\n#include "all.h"\n')
    (folder / "src" / "all.h").write_text('#include "helper.h"\n#include <cstdio>\n#include "detail/k.cuh"\n')
    (folder / "src" / "detail" / "k.cuh").write_text(KERNEL)
    (folder / "src" / "other.cu").write_text('#include "helper.h"\n// k.cuh is not included here\n')
    return folder / "src" / "detail" / "k.cuh"


def test_what_comes_before(tmp_path: Path) -> None:
    header = project(tmp_path)
    source = header.parent.parent
    names = (str(source / "base.h"), str(source / "helper.h"), "cstdio")
    assert included_first(header) == names
    assert included_first(source / "main.cu") == () and included_first(source / "base.h") == ()


def test_only_a_header_that_does_not_compile_gets_it(tmp_path: Path) -> None:
    (part,) = draft(project(tmp_path), assuming=True).parts
    assert part.first == ("base.h", "helper.h", "cstdio") and "-include" not in part.text()
    assert '"scalar by: float32 = by"' in part.text()  # the type is one of those files'
    made = repair(part, 'k.cuh(3): error: identifier "times" is undefined')
    assert made is not None and made.text().count('"-include", "base.h", "-include", "helper.h"') == 2
    assert repair(part, "k.cuh(3): error: no operator matches") is None
    assert repair(replace(part, first=()), 'identifier "times" is undefined') is None
    assert repair(made, 'identifier "times" is undefined') is None
    without = repair(made, "<command-line>: fatal error: base.h: No such file or directory")
    assert without is not None and without.text().count('= ["-include", "helper.h"') == 2
    assert repair(without, "<command-line>: fatal error: base.h: No such file or directory") is None


@pytest.mark.slow
def test_original_and_port_compile_after_it(tmp_path: Path) -> None:
    devices()
    header = project(tmp_path)
    made = draft(header, assuming=True)
    (tried,) = try_sizes(made)
    assert tried.chosen, tried.reason
    path = header.with_suffix(".case.toml")
    path.write_text(text_of(made, (tried,)))
    assert load_cases(path)[0].root.resolve() == header.parent.parent
    (case,) = by_name(run(path)).values()
    assert case.status.value == "passed", case.reason
