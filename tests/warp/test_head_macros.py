"""Functions whose heads a macro of a header begins are read as those that begin with the word itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.cpp.headers import header_reader
from porter.engine.context import parser_for
from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.model import PortedFile, Settings
from porter.names.table import load_names
from porter.source import SourceFile

KERNELS = {
    "plain": ("#define KERN __global__ void", "KERN k(int *p)"),
    "bounds": ("#define KERN __launch_bounds__(1024) __global__ void", "KERN k(int *p)"),
    "two": (
        "#ifdef OLD\n#define KERN __launch_bounds__(256) __global__ void\n#else\n#define KERN __global__ void\n#endif",
        "KERN k(int *p)",
    ),
    "lines": ('#define KERN extern "C" \\\n  __global__ void', "KERN k(int *p)"),
    "word": ("#define GLOBAL __global__", "template <int N> GLOBAL void k(int *p)"),
    "of another": ("#define GLOBAL __global__\n#define KERN GLOBAL void", "KERN k(int *p)"),
    "argument": ("#define KERN(name) __global__ void name", "KERN(k)(int *p)"),
    "helper": ("#define DEV __device__ __forceinline__", "DEV void k(int *p)"),
    "both": ("#define DEV __device__\n#define HD __host__ DEV", "HD inline void k(int *p)"),
}
BODIES = {
    "S103": "{{ if (threadIdx.x % 3 == 1) __syncthreads(); p[threadIdx.x] = 1; }}",
    "W102": "{{ if (threadIdx.x % 3 == 1) p[0] += __shfl_down_sync(0xffffffff, p[1], 1); }}",
}


def codes(folder: Path, header: str, source: str) -> set[str]:
    return {finding.code for finding in ported(folder, header, source).findings}


def ported(folder: Path, header: str, source: str) -> PortedFile:
    """With the rules that are asked for below, and without clang."""
    (folder / "a.h").write_text(f"#pragma once\n{header}\n")
    return port(SourceFile("k.cu", source.encode()), context_for(folder), "k.cu")


def context_for(folder: Path) -> Context:
    rules = tuple(rule for rule in all_rules() if rule.code in BODIES)
    return Context(Settings(), load_names(None, {}), load_support(None), rules, included_file=header_reader(folder, ()))


@pytest.mark.parametrize("code", BODIES)
@pytest.mark.parametrize("form", KERNELS)
def test_a_macro_of_a_header_begins_the_function(tmp_path: Path, form: str, code: str) -> None:
    macro, head = KERNELS[form]
    source = f'#include "a.h"\n{head} {BODIES[code].format()}\n'
    assert codes(tmp_path, macro, source) == {code}


@pytest.mark.parametrize("code", BODIES)
def test_what_the_macro_of_a_header_does_not_begin(tmp_path: Path, code: str) -> None:
    """A macro of the host's, and one that the file undoes the meaning of by its own."""
    body = BODIES[code].format()
    assert not codes(tmp_path, "#define KERN static void", f'#include "a.h"\nKERN k(int *p) {body}\n')
    assert not codes(
        tmp_path, "#define KERN __global__ void", f'#include "a.h"\nstruct KERNEL {{}};\nvoid k(int *p) {body}\n'
    )


@pytest.mark.parametrize("form", KERNELS)
def test_kernels_that_a_macro_of_a_header_begins_are_counted(tmp_path: Path, form: str) -> None:
    macro, head = KERNELS[form]
    (tmp_path / "a.h").write_text(f"#pragma once\n{macro}\n")
    source = SourceFile("k.cu", f'#include "a.h"\n{head} {{ p[0] = 1; }}\n'.encode())
    context = replace(context_for(tmp_path), parse=parser_for(tmp_path, (), ()))
    found = port(source, context, "k.cu").kernels
    assert [kernel.name for kernel in found] == ([] if form in ("helper", "both") else ["k"])
