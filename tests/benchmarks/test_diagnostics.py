"""Reading what clang prints."""

from __future__ import annotations

from benchmarks.diagnostics import CompileError, Location, parse_errors
from benchmarks.syntax_check import normalised

STDERR = """In file included from /t/p/main.hip:3:
In file included from /t/p/a.h:1:
/rocm/include/x.hpp:10:5: error: no member named 'f' in 'S<int>'
/t/p/main.hip:40:7: note: in instantiation of member function 'g' requested here
/t/p/main.hip:50:1: warning: unused
/t/p/main.hip:60:1: fatal error: 'cuda.h' file not found
2 errors generated when compiling for gfx942.
"""


def test_errors_with_their_places() -> None:
    first, second = parse_errors(STDERR)
    assert first.file == "/rocm/include/x.hpp"
    assert first.related == (
        Location("/rocm/include/x.hpp", 10),
        Location("/t/p/a.h", 1),
        Location("/t/p/main.hip", 3),
        Location("/t/p/main.hip", 40),
    )
    assert second == CompileError("/t/p/main.hip", 60, "'cuda.h' file not found", (Location("/t/p/main.hip", 60),))


def test_driver_errors_are_kept() -> None:
    (error,) = parse_errors("clang++-19: error: unsupported HIP gpu architecture: gfx000\n")
    assert "gfx000" in error.message


def test_messages_are_grouped() -> None:
    error = CompileError("f", 1, "no matching function for call to 'f<a, b, 3>' with 3 arguments")
    assert normalised(error) == "no matching function for call to '...' with N arguments"
    assert normalised(CompileError("f", 1, "'cuda.h' file not found")) == "'cuda.h' file not found"
