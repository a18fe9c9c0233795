"""Whether the device's pass compiles a place, without the pass: what is said must be what clang says."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.cpp.clang import libclang as clang
from porter.cpp.clang import stubs
from porter.cpp.clang.sides import DeviceSide
from porter.cpp.clang.view import Parsed, ParseRequest, parse
from porter.cpp.lex import lex

SURE = {
    "#ifdef __CUDA_ARCH__\nHERE\n#endif": True,
    "#if __CUDA_ARCH__ >= 700\nHERE\n#endif": True,
    "#if __CUDA_ARCH__ >= 900\nHERE\n#endif": False,
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 300\nint a;\n#else\nHERE\n#endif": True,
    "#if __CUDA_ARCH__ >= 700\nint a;\n#elif __CUDA_ARCH__ >= 600\nHERE\n#endif": False,
    "#ifdef HAVE_NOTHING\nHERE\n#endif": False,
    "#ifdef HAVE_NOTHING\n#ifdef _SOMEBODYS\nHERE\n#endif\n#endif": False,
    "#ifndef K_H\n#define K_H\n#ifdef __CUDA_ARCH__\nHERE\n#endif\n#endif": True,
    "#ifndef K_H\n#define K_H\n#if HAVE_NOTHING\nHERE\n#endif\n#endif": False,
    "HERE": True,
}
OPEN = {
    "#define LOCAL 1\n#ifdef __CUDA_ARCH__\n#undef LOCAL\n#endif\n#if LOCAL\nHERE\n#endif": False,
    "#ifdef __CUDA_ARCH__\n#define INSIDE 1\n#endif\n#if INSIDE\nHERE\n#endif": True,
    "#ifdef __CUDACC__\nHERE\n#endif": True,
    "#if INT_MAX > 5\nHERE\n#endif": True,
    "#if __CUDA_ARCH__ && GIVEN\nHERE\n#endif": True,
}


AS_ON_THE_HOST = [
    "#if INT_MAX < 5\nHERE\n#endif",
    "#ifdef HAVE_NOTHING\n#elif CUDART_VERSION < 5\nHERE\n#endif",
    "#if __CUDACC_VER_MAJOR__ >= 9\nint a;\n#else\nHERE\n#endif",
    "#if defined(_SELF_TEST_) || !GIVEN\nHERE\n#endif",
    "#ifndef K_H\n#define K_H\n#ifdef HAVE_NOTHING\nHERE\n#endif\n#endif",
]
PERHAPS_NOT = [
    "#if CUDART_VERSION < 5 || __CUDA_ARCH__\nHERE\n#endif",
    "#ifdef __CUDA_ARCH__\n#define INSIDE 1\n#endif\n#ifdef INSIDE\nHERE\n#endif",
    "#ifdef __CUDA_ARCH__\n#undef INT_MAX\n#define INT_MAX 1\n#endif\n#if INT_MAX < 5\nHERE\n#endif",
    "#ifdef __NO_MATH_ERRNO__\nHERE\n#endif",
    "#if __has_include(<nothing>)\nHERE\n#endif",
    "#ifdef __CUDA_ARCH__\nint a;\n#else\n#if INT_MAX < 5\nHERE\n#endif\n#endif",
]


def _said(text: str) -> bool | None:
    names = {"LOCAL", "INSIDE", "INT_MAX", "GIVEN"} | ({"K_H"} if "K_H" in text else set())
    return DeviceSide(lex(text), names, 800).compiles(text.index("HERE"))


@pytest.mark.parametrize(("text", "compiled"), SURE.items())
def test_conditions_of_the_pass_alone_are_settled(text: str, compiled: bool) -> None:
    assert _said(text) is compiled


@pytest.mark.parametrize("text", OPEN)
def test_a_macro_that_something_defines_is_left_to_the_compiler(text: str) -> None:
    assert _said(text) is None


@pytest.mark.parametrize(("text", "compiled"), (SURE | OPEN).items())
def test_clang_says_the_same(text: str, compiled: bool) -> None:
    source = text.replace("HERE", "__device__ float here;") + "\n#ifdef __CUDA_ARCH__\n#endif\n"
    parsed = parse(ParseRequest("/nowhere/k.cu", source.encode(), defines=("GIVEN=1",)))
    assert isinstance(parsed, Parsed)
    place = source.index("here")
    host, device = parsed._passes
    assert device.is_active(place) is compiled
    assert parsed.is_inactive(place) is not (compiled or host.is_active(place))
    assert (parsed.type_at(place) == "float") is (compiled or host.is_active(place))


def _parsed(text: str) -> Parsed:
    source = text.replace("HERE", "int here;") + "\n#ifdef __CUDA_ARCH__\n#endif\n"
    parsed = parse(ParseRequest("/nowhere/k.cu", source.encode(), defines=("GIVEN=1",)))
    assert isinstance(parsed, Parsed)
    return parsed


@pytest.mark.parametrize("text", AS_ON_THE_HOST)
def test_what_is_the_same_in_both_passes_leaves_out_the_same(text: str) -> None:
    parsed, place = _parsed(text), text.index("HERE")
    assert parsed._device.follows_host(place)
    assert parsed.is_inactive(place)
    assert parsed.type_at(place) is None
    assert "declarations" not in parsed._passes[1].__dict__
    assert [one.is_active(place) for one in parsed._passes] == [False, False]


@pytest.mark.parametrize("text", PERHAPS_NOT)
def test_a_macro_that_the_passes_may_have_differently_is_not_taken_for_the_same(text: str) -> None:
    parsed, place = _parsed(text), text.index("HERE")
    assert not parsed._device.follows_host(place)
    assert parsed.is_inactive(place) is not any(one.is_active(place) for one in parsed._passes)


def test_the_stubs_have_the_same_macros_in_both_passes() -> None:
    """So have all others of a compiler's that do not begin with two underscores."""
    found = []
    for side in ("host", "device"):
        text = "".join(
            f"#ifdef {name}\nint {name}_is;\n#endif\n"
            for name in sorted({*stubs.macros("cuda"), "_LP64", "_GNU_SOURCE", "unix", "linux"})
        )
        unit = clang.parse(
            "/nowhere/k.cu", stubs.flags("cuda", side), {"/nowhere/k.cu": text.encode()}, clang.Depth.ALL
        )
        assert unit is not None
        found.append(unit.skipped())
    assert found[0] == found[1]


def test_the_device_pass_is_not_made_where_conditions_tell() -> None:
    text = "#ifdef __CUDA_ARCH__\nint a;\n#endif\n#ifdef HAVE_NOTHING\nint here;\n#endif\n"
    parsed = parse(ParseRequest("/nowhere/k.cu", text.encode()))
    assert isinstance(parsed, Parsed)
    assert parsed.is_inactive(text.index("here"))
    assert parsed.declaration_at(text.index("here")) is None
    assert not parsed.is_inactive(text.index("int a"))
    assert "declarations" not in parsed._passes[1].__dict__


def test_a_macro_of_a_header_is_left_to_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "k.h").write_text("#ifdef __CUDA_ARCH__\n#define ON_DEVICE\n#endif\n")
    text = '#include "k.h"\n#ifdef ON_DEVICE\n__device__ float here;\n#endif\n'
    parsed = parse(ParseRequest(str(tmp_path / "k.cu"), text.encode(), root=str(tmp_path)))
    assert isinstance(parsed, Parsed)
    assert not parsed.is_inactive(text.index("here"))
    assert parsed.type_at(text.index("here")) == "float"
