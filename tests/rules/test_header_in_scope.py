"""A018: headers that are included within braces."""

from __future__ import annotations

import pytest

from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.model import Settings
from porter.names.table import load_names
from porter.source import SourceFile

INNER = "__device__ unsigned f(unsigned v) { return __shfl_xor_sync(~0u, v, 1); }\n"


def ported(text: str, inner: str = INNER) -> str:
    """The port of a file that includes inner.cuh."""
    files = {"inner.cuh": SourceFile("inner.cuh", inner.encode())}
    context = Context(
        Settings(), load_names(None, {}), load_support(None), all_rules(), included_file=lambda _, name: files.get(name)
    )
    done = port(SourceFile("a.cuh", text.encode()), context, "a.cuh")
    assert done.crashes == ()
    return done.data.decode()


@pytest.mark.parametrize("opening", ["namespace mine", 'extern "C"', "namespace a { namespace b"])
def test_what_the_port_of_a_header_needs_comes_ahead(opening: str) -> None:
    closing = "}" * opening.count("{")
    done = ported(f'int i;\n{opening} {{\n#include "inner.cuh"\n}}{closing}\n')
    assert done.index("#include <hip/hip_runtime.h>") < done.index(opening)
    assert done.index('#include "porter/warp32.hpp"') < done.index(opening)
    assert ported(done) == done


@pytest.mark.parametrize("inner", ["extern cudaStream_t s;\n", "__device__ float f(float a) { return sqrtf(a); }\n"])
def test_headers_of_cuda_need_the_runtime(inner: str) -> None:
    done = ported('namespace mine {\n#include "inner.cuh"\n}\n', inner)
    assert done.startswith("#include <hip/hip_runtime.h>\n")


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ('#include "inner.cuh"\nnamespace mine { int i; }\n', INNER),
        ('namespace mine {\n#include "inner.cuh"\n}\n', "inline int f() { return 1; }\n"),
        ('namespace mine {\n#include "other.h"\n}\n', INNER),
        (
            'extern "C" {\n#include "inner.cuh"\n}\n',
            "static double root(double a, double b) { return sqrt(min(a, b)); }\nsize_t surface;\n",
        ),
    ],
)
def test_others_stay(text: str, inner: str) -> None:
    assert ported(text, inner) == text
