"""A kernel is ready when what it calls is: real files, scanned."""

from __future__ import annotations

from pathlib import Path

import pytest

import porter
from porter.report.document import KernelLine

HARD = 'unsigned q; asm volatile("mapa.u32 %0, %1, 1;" : "=r"(q) : "r"(3));'
"""PTX that nothing translates: manual."""


def kernels(root: Path, **files: str) -> dict[str, KernelLine]:
    """The kernels of a tree by name; `a__cuh` is the file `a.cuh`."""
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text)
    return {line.model["name"]: line for line in porter.scan(root).report.kernels}


def left(root: Path, helpers: str, kernel: str) -> tuple[str, tuple[str, ...]]:
    """What is left of a kernel `k` that has this body and includes the helpers."""
    (root / "m.cuh").write_text("#define INLINE __device__ __forceinline__\n")
    source = f'#include "h.cuh"\n{kernel}'
    found = kernels(root, h__cuh=f"#pragma once\n{helpers}", k__cu=source)["k"]
    return found.left, found.through


CALLED = {
    "directly": (f"__device__ void f() {{ {HARD} }}", "__global__ void k() { f(); }", ("f",)),
    "through another": (
        f"__device__ void f() {{ {HARD} }}\n__device__ void g() {{ f(); }}",
        "__global__ void k() { g(); }",
        ("f",),
    ),
    "by its scope": (
        f"namespace a {{ namespace b {{ __device__ void f() {{ {HARD} }} }} }}",
        "namespace a { __global__ void k() { b::f(); } }",
        ("a::b::f",),
    ),
    "within its scope": (
        f"namespace a {{ __device__ void f() {{ {HARD} }} }}",
        "namespace a { __global__ void k() { f(); } }",
        ("a::f",),
    ),
    "as a static member": (
        f"template <class T> struct S {{ static __device__ void f() {{ {HARD} }} }};",
        "__global__ void k() { S<int>::f(); }",
        ("S::f",),
    ),
    "as a member": (
        f"struct S {{ __device__ void f() {{ {HARD} }} }};",
        "__global__ void k() { S s; s.f(); }",
        ("S::f",),
    ),
    "as a member of a parameter": (
        f"template <int N> struct S {{ __device__ void load() {{ {HARD} }} }};",
        "__global__ void k(S<3> *s) { s->load(); }",
        ("S::load",),
    ),
    "as a functor": (
        f"struct S {{ __device__ void operator()(int) {{ {HARD} }} }};",
        "__global__ void k() { S{}(1); }",
        ("S::operator()",),
    ),
    "as a variable": (
        f"struct S {{ __device__ void operator()(int) {{ {HARD} }} }};",
        "__global__ void k() { S s; s(1); }",
        ("S::operator()",),
    ),
    "by a template parameter, where nothing else can be meant": (
        f"struct S {{ static __device__ void run() {{ {HARD} }} }};",
        "template <class T> __global__ void k() { T::run(); }",
        ("S::run",),
    ),
    "as a macro": (f"#define F() {HARD}", "__global__ void k() { F() }", ("F",)),
    "through a macro": (
        f"__device__ void f() {{ {HARD} }}\n#define CALL(x) x = 1; f()",
        "__global__ void k(int *p) { CALL(*p); }",
        ("f",),
    ),
    "as all overloads": (
        f"__device__ void f(int) {{ {HARD} }}\n__device__ void f(float) {{ {HARD} }}",
        "__global__ void k() { f(1); }",
        ("f",),
    ),
    "from another namespace": (
        f"namespace NAMED {{ __device__ void f() {{ {HARD} }} }}",
        "namespace a { __global__ void k() { f(); } }",
        ("NAMED::f",),
    ),
    "with a head that a macro writes": (
        f'#include "m.cuh"\nINLINE void f() {{ {HARD} }}',
        "__global__ void k() { f(); }",
        ("f",),
    ),
    "in a circle": (
        f"__device__ void g(int);\n__device__ void f(int n) {{ g(n); }}\n__device__ void g(int n) {{ f(n); {HARD} }}",
        "__global__ void k() { f(3); }",
        ("g",),
    ),
}


@pytest.mark.parametrize(("helpers", "kernel", "through"), CALLED.values(), ids=CALLED)
def test_what_is_called_is_left_to_the_kernel(
    tmp_path: Path, helpers: str, kernel: str, through: tuple[str, ...]
) -> None:
    """Wherever it stands, and however it is called."""
    assert left(tmp_path, helpers, kernel) == ("manual", through)


NOT_CALLED = {
    "only included": (f"__device__ void f() {{ {HARD} }}", "__global__ void k() { }"),
    "named so elsewhere": (
        f"namespace a {{ __device__ void f() {{ {HARD} }} }} namespace b {{ __device__ void f() {{ }} }}",
        "namespace b { __global__ void k() { f(); } }",
    ),
    "named so in another class": (
        f"struct A {{ __device__ void f() {{ {HARD} }} }}; struct B {{ __device__ void f() {{ }} }};",
        "__global__ void k() { B b; b.f(); }",
    ),
    "a static member of another class": (
        f"struct A {{ static __device__ void f() {{ {HARD} }} }}; struct B {{ static __device__ void f() {{ }} }};",
        "__global__ void k() { B::f(); }",
    ),
    "a class that is not known": (
        f"struct A {{ static __device__ void f() {{ {HARD} }} }}; struct B {{ static __device__ void f() {{ }} }};",
        "template <class T> __global__ void k() { T::f(); }",
    ),
    "a member of CUDA's own": (
        f"struct Barrier {{ __device__ void sync() {{ {HARD} }} }};",
        "__global__ void k() { auto g = cooperative_groups::this_thread_block(); g.sync(); }",
    ),
    "a class of another library": (
        f"struct Mine {{ __device__ void sync() {{ {HARD} }} static __device__ void arrive_at(int) {{ {HARD} }} }};",
        "__global__ void k() { other::Barrier::arrive_at(1); Barrier::sync(); }",
    ),
    "the standard's": (
        f"__device__ int move(int) {{ {HARD} return 1; }}",
        "__global__ void k() { int a = std::move(1); }",
    ),
    "its own name as a variable": (f"__device__ void f() {{ {HARD} }}", "__global__ void k() { int f = 1; f += f; }"),
    "for another architecture": (
        f"__device__ void f() {{ {HARD} }}",
        "__global__ void k(int *p) {\n*p = 1;\n#if __CUDA_ARCH__ >= 9000\nf();\n#endif\n}",
    ),
    "allowed": (
        f"__device__ void f() {{\n// porter: allow[P102] never called\n{HARD}\n}}",
        "__global__ void k() { f(); }",
    ),
}


@pytest.mark.parametrize(("helpers", "kernel"), NOT_CALLED.values(), ids=NOT_CALLED)
def test_what_is_not_called_is_not(tmp_path: Path, helpers: str, kernel: str) -> None:
    """What merely stands in the same files leaves nothing to a kernel."""
    assert left(tmp_path, helpers, kernel) == ("none", ())


def test_one_of_many_overloads_is_a_reason_to_look(tmp_path: Path) -> None:
    """Which of them is called is not known."""
    helpers = f"__device__ void f(int) {{ {HARD} }}\n__device__ void f(float) {{ }}\n__device__ void f(double) {{ }}"
    assert left(tmp_path, helpers, "__global__ void k() { f(1.0f); }") == ("review", ("f",))


def test_a_file_that_is_not_included_has_other_functions(tmp_path: Path) -> None:
    """The same name in two programs of a tree."""
    found = kernels(
        tmp_path,
        a__cu=f"__device__ void f() {{ {HARD} }}\n__global__ void one() {{ f(); }}",
        b__cu="__device__ void f() { }\n__global__ void two() { f(); }",
    )
    assert {name: line.left for name, line in found.items()} == {"one": "manual", "two": "none"}


def test_a_header_that_is_not_found_by_its_name_alone_counts(tmp_path: Path) -> None:
    """`#include "deep/h.cuh"` of a folder that the build names."""
    (tmp_path / "inc" / "deep").mkdir(parents=True)
    (tmp_path / "inc" / "deep" / "h.cuh").write_text(f"__device__ void f() {{ {HARD} }}")
    found = kernels(tmp_path, k__cu='#include "deep/h.cuh"\n__global__ void k() { f(); }')
    assert found["k"].left == "manual"


def test_every_document_says_so(tmp_path: Path) -> None:
    """Text, JSON and the state of a gap report rest on the same value."""
    for name, text in {
        "h.cuh": f"__device__ void f() {{ {HARD} }}",
        "k.cu": '#include "h.cuh"\n__global__ void k() { f(); }\n__global__ void fine() { }',
    }.items():
        (tmp_path / name).write_text(text)
    done = porter.scan(tmp_path)
    assert "1 ready, 0 to review, 1 with manual work" in done.text
    assert {k["name"]: (k["left"], k["through"]) for k in done.as_json()["kernels"]} == {
        "k": ("manual", ["f"]),
        "fine": ("none", []),
    }
