"""A010 among all rules: a counterpart is included once, and nothing else of a line is lost."""

from __future__ import annotations

import pytest

from porter.dual.transform import transform
from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.model import PortedFile, Settings
from porter.names.table import load_names
from porter.source import SourceFile

RUNTIME = "#include <hip/hip_runtime.h>\n"


def ported(text: str, style: str = "renamed") -> PortedFile:
    """The port of a header, by its tokens."""
    context = Context(Settings(style=style), load_names(None, {}), load_support(None), all_rules())
    done = port(SourceFile("a.h", text.encode()), context, "a.h")
    assert done.crashes == ()
    return done


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#include <cuda.h>\n#include <cuda_runtime.h>\nint i;\n", f"{RUNTIME}int i;\n"),
        ("#include <cuda.h>\r\n\r\n#include <cuda_runtime.h>\r\n", "#include <hip/hip_runtime.h>\r\n\r\n"),
        (f"{RUNTIME}#include <cuda_runtime.h>\n", RUNTIME),
        ("#pragma once\n#include <cuda.h>\n#include <vector>\n#include <cuda_runtime_api.h>  \n", None),
    ],
)
def test_the_second_line_goes(before: str, after: str | None) -> None:
    done = ported(before).data.decode()
    assert done.count("hip/hip_runtime.h") == 1
    assert after is None or done == after
    assert ported(done).data.decode() == done


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef A\n#include <cuda.h>\n#else\n#include <cuda_runtime.h>\n#endif\n",
        "#ifdef A\n#include <cuda.h>\n#endif\n#include <cuda_runtime.h>\n",
        "#include <cuda.h>\n#ifdef A\n#include <cuda_runtime.h>\n#endif\n",
        "#ifdef A\n#include <cuda.h>\n#endif\n#ifdef A\n#include <cuda_runtime.h>\n#endif\n",
        "#ifdef A\n#include <cuda.h>\n#include <cuda_runtime.h>\n",
        "#include <cuda.h>\n#include <cuda_runtime.h> // for cudaMalloc\n",
        "#include <cuda.h>\n#include <cuda_runtime.h> /* one\n two */\n",
        "#include <cuda.h>\n  #include <cuda_runtime.h>\n",
        "#include <cuda.h>\n/* first */ #include <cuda_runtime.h>\n",
        "#include <cuda.h>\n#include <cuda_runtime.h>",
    ],
)
def test_other_branches_and_what_else_a_line_holds_stay(text: str) -> None:
    done = ported(text).data.decode()
    assert done == text.replace("cuda.h", "hip/hip_runtime.h").replace("cuda_runtime.h", "hip/hip_runtime.h")


def test_an_allowed_line_above_is_no_reason() -> None:
    text = "#include <cuda.h> // porter: allow[A010] the driver's own\n#include <cuda_runtime.h>\n"
    assert b"\n#include <hip/hip_runtime.h>\n" in ported(text).data


def test_a_source_for_both_vendors_keeps_both_lines() -> None:
    text = "#include <cuda.h>\n#include <cuda_runtime.h>\nint i;\n"
    dual = transform(text.encode(), ported(text, "dual").edits)
    assert dual.data.decode() == text
    assert dual.headers == tuple((name, ("<hip/hip_runtime.h>",)) for name in ("cuda.h", "cuda_runtime.h"))
