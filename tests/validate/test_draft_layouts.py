"""Types that the text of a source does not tell: laid out by clang, or defined in a header that it does not include."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.devices.device import Program
from porter.validation.draft.definers import definer
from porter.validation.draft.guessing import search
from porter.validation.draft.init import DraftedCase, draft
from porter.validation.draft.repairing import repair
from porter.validation.draft.trying import try_sizes
from porter.validation.draft.unit import read_unit
from porter.validation.harness.cutout import ahead_of, cut_out
from porter.validation.verdict.outcome import CaseResult, Status

from porter.cpp.clang.layouts import layouts_of
from porter.cpp.clang.view import ParseRequest

CLASSES = """
#include <cuda_runtime.h>
#define REAL float
typedef cudaTextureObject_t image_t;
namespace ns {
template <class T, int N> struct Base { T kept[N]; };
class Bands {
 public:
  Bands(int n) : count(n) {}
  union { struct { short* a; short* b; }; short* all[2]; };
 private:
  int count;
};
struct Empty {};
enum Kind : unsigned char { ONE };
struct View : Empty, Base<REAL, 3> {
  __host__ __device__ REAL at(int i) const { return data[i]; }
  const REAL* __restrict__ data; Bands bands; double4 box; unsigned low : 3, high : 7; Kind kind;
  Bands* next; int* kept_by_the_host;
};
struct Image { image_t texture; int n; };
struct Abstract { virtual ~Abstract(); int n; };
typedef View* view_p;
}
"""


@pytest.fixture
def request_of(tmp_path: Path) -> ParseRequest:
    path = tmp_path / "k.cu"
    path.write_text(CLASSES)
    return ParseRequest(str(path), CLASSES.encode(), root=str(tmp_path))


def test_a_class_is_laid_out_as_clang_does(request_of: ParseRequest) -> None:
    """Bases, a template's instance, private members, a nameless union by its first member, bit-fields byte by byte."""
    found = layouts_of(request_of, "View", ("ns",))
    made = found["View"]
    places = [(one.name, one.at, one.kind or f"{one.pointed}*", one.count) for one in made.fields]
    assert places == [
        ("kept", 0, "float", 3),
        ("data", 16, "const float*", 1),
        ("bands_a", 24, "short*", 1),
        ("bands_b", 32, "short*", 1),
        ("bands_count", 40, "int", 1),
        *(("box_" + side, 48 + 8 * n, "double", 1) for n, side in enumerate("xyzw")),
        ("low", 80, "unsigned char", 1),
        ("high", 81, "unsigned char", 1),
        ("kind", 82, "unsigned char", 1),
        ("next", 88, "ns::Bands*", 1),
        ("kept_by_the_host", 96, "int*", 1),
    ]
    assert (made.size, made.align) == (112, 16)
    assert made.fields[2].words == ("a", "b", "all")  # code may use any name of the union
    assert [one.at for one in found["ns::Bands"].fields] == [0, 8, 16]


@pytest.mark.parametrize("kind", ["Image", "Abstract", "Empty", "unheard_of", "int (*)(int)"])
def test_what_has_no_plain_layout(request_of: ParseRequest, kind: str) -> None:
    assert layouts_of(request_of, kind, ("ns",)) == {}


def test_a_number_behind_a_name(request_of: ParseRequest) -> None:
    (field,) = layouts_of(request_of, "REAL")["REAL"].fields
    assert (field.name, field.kind) == ("", "float")


KERNEL = """
namespace ns {
__global__ void k(View v, Image i, const Bands* more) {
  int n = threadIdx.x;
  if (v.data) v.bands.all[0][n] = more[n].count();
}
}
"""


def test_members_that_nothing_mentions_are_null(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(CLASSES + KERNEL)
    (part,) = draft(path, ("k",)).parts
    text = "\n".join(part.after)
    assert "['address', 'v_data'], ['address', 'v_bands_a']" in text
    assert "['uint64', 0], ['uint64', 0]]" in text  # v.next, v.kept_by_the_host
    assert '"inout v_bands_a: int16[TODO] = integers(0, 100)"' in text and "v_next" not in text
    assert '"scalar i: TODO(Image) = TODO"' in text  # textures are no members


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A source whose build puts a header before it, beside one that names the same for another language."""
    files = {
        ".git/HEAD": "",
        "src/consts.h": '#include "made_by_the_build.h"\ntypedef float realw;\n'
        "#define LOOP(i, n) for (int i = 0; i < n; i++)\n",
        "hip/consts.h": "typedef double realw;\n",
        "src/kernels/k.cu": "__global__ void k(realw* x, const int* ids, int n) {\n"
        "  LOOP(i, n) x[(blockIdx.x * blockDim.x + threadIdx.x) * n + i] += ids[i] + COUNT;\n}\n",
        "src/main.cu": '#include "consts.h"\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_header_that_defines_a_name(project: Path) -> None:
    source = project / "src" / "kernels" / "k.cu"
    assert definer(source, "realw") == project / "src" / "consts.h"
    assert definer(source, "LOOP") == project / "src" / "consts.h"
    assert definer(source, "COUNT") is None and definer(source, "x") is None
    unit = read_unit(source)
    assert unit.first == (str(project / "src" / "consts.h"),)
    assert '"inout x: float32[TODO]"' in "\n".join(draft(source, assuming=True).parts[0].after)


def test_a_file_that_includes_all_it_needs_gets_nothing(project: Path) -> None:
    source = project / "src" / "kernels" / "k.cu"
    source.write_text(f'#include "../consts.h"\n{source.read_text()}')
    assert read_unit(source).first == ()


def test_what_an_option_puts_before_a_source_is_cut_out_with_it(project: Path) -> None:
    source = project / "src" / "kernels" / "k.cu"
    options = ("-include", "consts.h", "-include", "thrust/functional.h", "-O1")
    program = Program(source, "k", "cuda", include_dirs=(project / "src",), options=options)
    before, left = ahead_of(program)
    assert before == (project / "src" / "consts.h",)
    assert left.options == ("-include", "thrust/functional.h", "-O1")
    text = cut_out(program)
    assert text is not None and "typedef float realw;" in text and "made_by_the_build" not in text


def test_names_that_a_compiler_misses(project: Path) -> None:
    """The project's own definition first; then what the source names, and at last macros that headers may name."""
    (part,) = draft(project / "src" / "kernels" / "k.cu", assuming=True).parts
    missing = [f'error: identifier "{name}" is undefined' for name in ("LOOP", "COUNT", "BLOCK_X", "VALUE_T", "lower")]
    plain = replace(part, first=())
    first = repair(plain, "\n".join(missing))
    assert first is not None and 'cuda_options = ["-include", "consts.h"]' in first.after
    second = repair(first, "\n".join(missing[1:]))
    assert second is not None and "assumed = ['static constexpr int COUNT = 4;']" in second.after
    third = repair(second, "\n".join(missing[1:]))
    assert third is not None and 'defines = ["BLOCK_X=128", "VALUE_T=float"]' in third.after
    assert repair(third, missing[-1]) is None


def test_headers_of_cuda_do_not_come_before_a_port(project: Path) -> None:
    (part,) = draft(project / "src" / "kernels" / "k.cu", assuming=True).parts
    made = repair(replace(part, first=("cuda_runtime.h", "cub/cub.cuh", "custom.h")), 'error: "realw" is undefined')
    assert made is not None
    assert 'hip_options = ["-include", "custom.h"]' in made.after
    assert (
        'cuda_options = ["-include", "cuda_runtime.h", "-include", "cub/cub.cuh", "-include", "custom.h"]' in made.after
    )


@pytest.mark.parametrize(
    ("text", "defines"),
    [
        ("#if HAVE_CUDA\n#endif\n#ifdef _CUDA_ENABLED\n#endif", ("HAVE_CUDA=1", "_CUDA_ENABLED=1")),
        ("#ifdef LIB_USE_CUDA\n#endif", ("LIB_USE_CUDA=1",)),
        ("#define USE_CUDA 0\n#if USE_CUDA\n#endif", ()),
        ("#ifdef __CUDACC__\n#elif CUDA_VERSION > 1\n#elif defined(USE_CUDA_GRAPHS)\n#endif\n// HAVE_CUDA", ()),
    ],
)
def test_what_a_build_for_cuda_switches_on(tmp_path: Path, text: str, defines: tuple[str, ...]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"{text}\n__global__ void k(int* x) {{ x[0] = 1; }}\n")
    assert read_unit(path).build.defines == defines


def _fault(reason: str) -> CaseResult:
    return CaseResult("k", "k.case.toml", 1, "k.cu", "k", Status.FAULT, reason)


def _said(searched: Generator[DraftedCase, CaseResult | str, DraftedCase | str], reason: str) -> str:
    return "\n".join(searched.send(_fault(reason)).after)


def test_places_that_count_from_one(project: Path) -> None:
    """0 led in front of an array: integers are 1 and 2."""
    (part,) = draft(project / "src" / "kernels" / "k.cu", assuming=True).parts
    searched = search(part)
    next(searched)
    before = "access outside every allocation: k; 4 bytes before argument 0 (32768 bytes)"
    assert "= integers(0, 2)" in _said(searched, before)
    assert "= integers(1, 3)" in _said(searched, before)
    assert "= arange" in _said(searched, before)


def test_numbers_beside_pointers_in_memory_fit_each_other(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "struct M { float* v; int rows, cols; };\n"
        "__global__ void k(M* m) { if (threadIdx.x >= m->rows) __trap(); m->v[threadIdx.x] = 1; }\n"
    )
    (part,) = draft(path, assuming=True).parts
    searched = search(part)
    next(searched)
    texts = [_said(searched, "trap") for _ in range(3)]
    assert ["integers(32, 33)" in text for text in texts] == [False, False, True]


def test_a_table_of_an_empty_launch_is_no_guess(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }\n")
    (part,) = draft(path, assuming=True).parts
    lines = tuple(
        line.replace('grid = "TODO"', "grid = 2").replace('block = "TODO"', "block = 64") for line in part.after
    )
    zero = replace(part.sizes, tables=(tuple(0 for _ in part.sizes.names),))
    made = next(search(replace(part, after=lines, sizes=zero)))
    assert set(made.sizes.tables[0]) == {100}


@pytest.mark.slow
def test_a_kernel_whose_build_puts_a_header_before_it_runs(project: Path) -> None:
    """The header itself includes one that the build makes: the kernel is cut out of both."""
    if (reason := registry.why_not("ptx")) is not None:
        pytest.skip(reason)
    (tried,) = try_sizes(draft(project / "src" / "kernels" / "k.cu", assuming=True))
    assert tried.chosen, tried.reason
    assert "static constexpr int COUNT = 4;" in tried.text and '"-include", "consts.h"' in tried.text
