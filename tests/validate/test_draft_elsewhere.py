"""What a draft finds outside of a source: its launches, its includer, values of macros in build files and scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.draft.build_values import value_in_builds
from porter.validation.draft.completing import guards_of_name
from porter.validation.draft.definers import definer
from porter.validation.draft.host import Host
from porter.validation.draft.includers import included_first, launching, translation_unit
from porter.validation.draft.init import draft
from porter.validation.draft.repairing import repair
from porter.validation.draft.trying import try_sizes
from porter.validation.draft.types import Element, elements_of

KERNEL = """template <int TILE> __global__ void blur(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = in[y * w + x] / 2;
}
"""
LAUNCH = """#include "../kernels/blur.cuh"
void run(float* a, float* b, int w, int h) {
  const unsigned SIDE = 8;
  dim3 block(SIDE, SIDE), grid((w + SIDE - 1) / SIDE, (h + SIDE - 1) / SIDE);
  blur<SIDE> <<<grid, block>>>(a, b, w, h);
}
"""


def project(folder: Path, files: dict[str, str]) -> Path:
    for name, text in {"LICENSE": "\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


# -- launches -----------------------------------------------------------------------------------------


def test_a_launch_in_another_folder(tmp_path: Path) -> None:
    project(tmp_path, {"kernels/blur.cuh": KERNEL, "app/run.cu": LAUNCH})
    (part,) = draft(tmp_path / "kernels/blur.cuh", assuming=True).parts
    assert part.kernel == "blur<8>" and "launched as in run.cu" in part.notes
    assert "block = [8, 8]" in part.after and 'grid = ["(w + 8 - 1) // 8", "(h + 8 - 1) // 8"]' in part.after
    (bare,) = draft(tmp_path / "kernels/blur.cuh").parts
    assert bare.kernel == "blur<TODO>" and not bare.notes


def test_the_nearest_that_launches_most(tmp_path: Path) -> None:
    files = {
        "k/all.cuh": "__global__ void one(int*); __global__ void two(int*);\n",
        "a/one.cu": "void f() { one<<<1, 2>>>(0); }\n",
        "k/near/one.cu": "void f() { one<<<1, 2>>>(0); }\n",
        "a/both.cu": "void f() { one<<<1, 2>>>(0); two <float> <<<1, 2>>>(0); }\n",
        "k/none.cu": "void f() { one_more<<<1, 2>>>(0); one(two << 3); }\n",
    }
    project(tmp_path, files)
    found = launching(tmp_path / "k/all.cuh", ["one", "two"])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["a/both.cu", "k/near/one.cu"]
    assert launching(tmp_path / "k/all.cuh", ["three"]) == ()


@pytest.mark.parametrize(
    ("use", "kernel"),
    [
        ("#define RUN(T, n) \\\n  fill<T, n> (x);\nRUN(double, 3)\n", "fill<double, 3>"),
        ("#define RUN(T) fill<T, 5>(x)\nvoid f() { RUN(float) }\n", "fill<float, 5>"),
        ("const int N = 6; void f() { call(fill<double, N>); }\n", "fill<double, 6>"),
        ("#define RUN(T) fill<T, 5>(x)\n", "fill<float, 5>"),  # nobody uses it
    ],
)
def test_macros_and_constants_of_another_file(use: str, kernel: str, tmp_path: Path) -> None:
    text = "template <typename T, int N> __global__ void fill(T* x) { x[threadIdx.x] = N; }\n"
    project(tmp_path, {"lib/k.cuh": text, "use/use.cu": use})
    (part,) = draft(tmp_path / "lib/k.cuh", assuming=True).parts
    assert part.kernel == kernel


# -- a source that others include ---------------------------------------------------------------------


def test_a_source_that_another_includes(tmp_path: Path) -> None:
    files = {
        "src/types.h": "typedef struct { int n; float scale; } Settings;\n",
        "src/part.cu": "__global__ void k(Settings s, float* x) { x[threadIdx.x] = s.scale * s.n; }\n",
        "src/main.cu": '#include "types.h"\n#include "part.cu"\n',
        "src/alone.cu": "__global__ void k(float* x) { x[0] = 1; }\n",
    }
    project(tmp_path, files)
    assert included_first(tmp_path / "src/part.cu") == (str(tmp_path / "src/types.h"),)
    assert included_first(tmp_path / "src/alone.cu") == ()
    made = draft(tmp_path / "src/part.cu", assuming=True)
    assert "name = 's', kind = 'struct'" in made.text and "TODO(" not in made.text
    assert '# part.cu is a part of it\nsource = "main.cu"\n' in made.head() and made.parts[0].first == ()
    assert 'source = "part.cu"' in draft(tmp_path / "src/part.cu").head()
    assert [translation_unit(tmp_path / "src" / name) for name in ("part.cu", "alone.cu", "types.h", "main.cu")] == [
        tmp_path / "src/main.cu", None, None, None,
    ]  # fmt: skip
    (tmp_path / "src/part.cu").write_text('#include "types.h"\n' + files["src/part.cu"])
    assert translation_unit(tmp_path / "src/part.cu") is None  # it brings its own


def test_types_of_headers_above_the_source(tmp_path: Path) -> None:
    files = {
        "maths/vector.h": "template <typename T> struct Pair { union { struct { T x, y; }; T v[2]; }; };\n"
        "template <typename T> class Vec : public Pair<T> { public: T sum() const { return this->x; } };\n",
        "maths/types.h": '#include "vector.h"\ntypedef class Vec<float> Vector2f;\n',
        "engine/cuda/k.cu": '#include "../../maths/types.h"\n__global__ void k(Vector2f* v) { v->x = v->y; }\n',
    }
    project(tmp_path, files)
    (part,) = draft(tmp_path / "engine/cuda/k.cu", assuming=True).parts
    assert any("v: float32[" in line and ', 2]"' in line for line in part.after), part.after


@pytest.mark.slow
def test_a_part_is_compiled_with_what_stands_before_it(tmp_path: Path) -> None:
    if (reason := registry.why_not("ptx")) is not None:
        pytest.skip(reason)
    files = {
        "src/main.cu": '#include <missing/lib.h>\n__constant__ int table[64];\n#define SCALE 3\n#include "part.cu"\n',
        "src/part.cu": "__global__ void k(int* x) { x[threadIdx.x] = table[threadIdx.x % 64] * SCALE; }\n",
    }
    project(tmp_path, files)
    (tried,) = try_sizes(draft(tmp_path / "src/part.cu", assuming=True))
    assert tried.chosen, tried.reason
    assert '"in table: int32[64]"' in tried.text


# -- values of macros ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("Makefile", "NVFLAGS += -DTILE=32 -O3\n", "32"),
        ("setup.py", "define_macros=[('TILE', '16')]\n", "16"),
        ("build.py", "load('k.cu', {'TILE': 8, 'REAL': 'double'})\n", "8"),
        ("CMakeLists.txt", 'set(TILE 64 CACHE STRING "")\n', "64"),
        ("build.rs", '.arg("-DTILE=4")\n', "4"),
        ("Makefile", "FLAGS += -DTILE=$(SIZE) -DTILE_X=3\n", None),
        ("notes.md", "-DTILE=32\n", None),
        ("k.py", "TILE = 3\n", None),
    ],
)
def test_values_in_builds(name: str, text: str, value: str | None, tmp_path: Path) -> None:
    project(tmp_path, {"src/k.cu": "\n", name: text})
    found = value_in_builds(tmp_path / "src/k.cu", "TILE")
    assert (found.value if found else None) == value and (found is None or found.file == name)


def test_the_value_beside_the_source_name_counts_most(tmp_path: Path) -> None:
    text = "load('a', {'REAL': 'double'})\n" * 3 + "\n" * 400 + "load('blur', {'REAL': 'float'})\n"
    project(tmp_path, {"src/blur.cu": "\n", "src/other.cu": "\n", "run.py": text})
    values = [value_in_builds(tmp_path / "src" / name, "REAL") for name in ("blur.cu", "other.cu")]
    assert [one and one.value for one in values] == ["float", "double"]


def test_a_draft_takes_them(tmp_path: Path) -> None:
    text = "__global__ void k(complex<OUT_TYPE>* x, int n) { x[threadIdx.x] *= ROWS; }\n"
    project(tmp_path, {"src/k.cu": text, "run.py": "load({'OUT_TYPE': 'double', 'ROWS': 12})\n"})
    (part,) = draft(tmp_path / "src/k.cu", assuming=True).parts
    assert 'defines = ["OUT_TYPE=double"]' in part.after and '"inout x: float64[TODO, 2]",' in map(
        str.strip, part.after
    )
    made = repair(part, 'k.cu(1): error: identifier "ROWS" is undefined')
    assert made is not None and "assumed = ['#define ROWS 12']" in made.after
    assert made.notes[-1] == "nothing defines ROWS: taken to be 12, as in run.py"


# -- what is defined, and left out --------------------------------------------------------------------


def test_features_that_define_a_name(tmp_path: Path) -> None:
    text = "#ifdef DEVICE_CODE\n__device__ int total(int x) { return x; }\n#endif\n__device__ int plain(int x);\n"
    assert guards_of_name(Host(text), "total") == ("DEVICE_CODE",)
    assert guards_of_name(Host(text), "plain") == () and guards_of_name(Host(text), "other") == ()
    both = text + "__device__ int total(int x);\n"
    assert guards_of_name(Host(both), "total") == ()  # defined without it, too
    two = "#if WIDE == 0\ntypedef float Real;\n#endif\n#if WIDE == 1\ntypedef double Real;\n#endif\n"
    assert guards_of_name(Host(two), "Real") == ("WIDE=1",) and Host(two).plain_type("Real") == "double"
    source = tmp_path / "k.cu"
    source.write_text(text + "__global__ void k(int* x) { x[threadIdx.x] = total(x[0]); }\n")
    (part,) = draft(source, assuming=True).parts
    made = repair(part, 'k.cu(5): error: identifier "total" is undefined')
    assert made is not None and 'defines = ["DEVICE_CODE"]' in made.after
    assert made.notes[-1] == "what the kernel needs is left out without it: DEVICE_CODE"


def test_tables_of_the_device_are_definitions(tmp_path: Path) -> None:
    project(tmp_path, {"src/k.cu": "\n", "lib/table.h": "__device__ double ROOTS[] = {1, 2};\n"})
    assert definer(tmp_path / "src/k.cu", "ROOTS") == tmp_path / "lib/table.h"


@pytest.mark.parametrize(
    ("kind", "element"),
    [
        ("cuComplex *", Element("float32", 2)),
        ("cufftDoubleComplex", Element("float64", 2)),
        ("thrust::complex<float>", Element("float32", 2)),
        ("std::complex<double>", Element("float64", 2)),
        ("cufftReal", Element("float32")),
        ("complex<T>", None),
        ("complex<int>", None),
    ],
)
def test_complex_numbers(kind: str, element: Element | None) -> None:
    assert elements_of(Host(""), kind) == element
