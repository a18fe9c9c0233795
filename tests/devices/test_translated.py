"""A kernel that was translated before is not translated again, and comes out the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices import gfx942, ptx
from porter.validation.devices.core import translated
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.gfx942 import again
from porter.validation.devices.gfx942.translate import Translator as GfxTranslator
from porter.validation.devices.ptx.translate import Translator as PtxTranslator
from porter.validation.toolchain.clang import Assembled, Missing, assemble_text, find_clang

PTX = """.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.func (.param .b32 r) twice(.param .b32 x) {
  .reg .u32 %r<3>;
  ld.param.u32 %r1, [x];
  add.u32 %r2, %r1, %r1;
  st.param.u32 [r], %r2;
  ret;
}
.visible .entry first(.param .u64 p) {
  .reg .u64 %rd<2>; .reg .u32 %r<3>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [counter];
  { .param .b32 a; .param .b32 b; st.param.u32 [a], %r1; call (b), twice, (a); ld.param.u32 %r2, [b]; }
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry second(.param .u64 p) {
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], 7;
  ret;
}
"""
HIP = """
__device__ int table[4] = {3, 4, 5, 6};
__device__ __noinline__ int twice(int x) { return 2 * x; }
typedef int (*F)(int);
__device__ F called = twice;
extern "C" __global__ void first(int *p) { p[threadIdx.x] = called(table[threadIdx.x & 3]) + 1; }
extern "C" __global__ void second(int *p) { __shared__ int s[64]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads();
  p[threadIdx.x] = s[63 - threadIdx.x]; printf("%d\\n", s[0]); }
"""


@functools.cache
def _assembly() -> str:
    clang = find_clang()
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)
    made = assemble_text(HIP)
    assert isinstance(made, Assembled), made
    return made.text


def _nvidia() -> ptx.Device:
    device = ptx.open_device()
    return device if isinstance(device, ptx.Device) else pytest.skip(device.reason)


def _amd() -> gfx942.Device:
    device = gfx942.open_device()
    return device if isinstance(device, gfx942.Device) else pytest.skip(device.reason)


SIDES: dict[str, tuple[Callable[[], ptx.Device | gfx942.Device], type, Callable[[], str]]] = {
    "ptx": (_nvidia, PtxTranslator, lambda: PTX),
    "gfx942": (_amd, GfxTranslator, _assembly),
}


class Counted:
    """How often translators were at work, and in which modules."""

    def __init__(self, patch: pytest.MonkeyPatch, translator: type) -> None:
        self.made: list[str] = []
        whole = translator.translate

        def noted(one: PtxTranslator | GfxTranslator) -> object:
            self.made.append(one.kernel.name)
            return whole(one)

        patch.setattr(translator, "translate", noted)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of its own; what compilers are was found out before."""
    find_host_compiler()
    _assembly()
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _said(device: ptx.Device | gfx942.Device, text: str, kernel: str) -> tuple[object, ...]:
    module = device.compile(text)
    assert not isinstance(module, NotRun), module
    built = module._image(kernel, ptx.device.Options())
    assert not isinstance(built, NotRun), built
    image, symbols = built
    known = replace(image, library=Path(), better=None, spoken=None)
    ran = module.launch(kernel, 1, 64, [np.arange(64, dtype=np.int32)])
    assert isinstance(ran, Ran), ran
    return known, symbols, sorted(module.symbols), module.parameter_sizes(kernel), ran.output(0).tolist(), ran.printed


@pytest.mark.parametrize("side", SIDES)
def test_it_is_the_same(side: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Image, symbols and what a launch leaves, in this process and in the next one."""
    opened, translator, text = SIDES[side]
    counted = Counted(monkeypatch, translator)
    first = [_said(opened(), text(), kernel) for kernel in ("first", "second")]
    assert counted.made == ["first", "second"]
    assert [_said(opened(), text(), kernel) for kernel in ("first", "second")] == first
    assert counted.made == ["first", "second"]


@pytest.mark.parametrize("side", SIDES)
def test_a_kernel_that_nobody_asked_for(side: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a module that is known all but its code: it is read now."""
    opened, translator, text = SIDES[side]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translated, "remembered", lambda name, make: make())
        wanted = _said(opened(), text(), "second")
    _said(opened(), text(), "first")
    counted = Counted(monkeypatch, translator)
    assert _said(opened(), text(), "second") == wanted
    assert counted.made == ["second"]
    missing = opened().compile(text()).translate("third")  # type: ignore[union-attr]
    assert isinstance(missing, NotRun)
    assert "no kernel named third; there are: first, second" in missing.reason


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("other", ["text", "poison", "makers", "damage"])
def test_what_decides_it(side: str, other: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another text, launches that look for what was not written, another translator; and one that rotted."""
    opened, translator, text = SIDES[side]
    module = opened().compile(text())
    assert not isinstance(module, NotRun)
    assert not isinstance(module.translate("first"), NotRun)
    counted = Counted(monkeypatch, translator)
    options = ptx.device.Options(uninitialised=other != "poison")
    if other == "makers":
        monkeypatch.setattr(translated, "_makers", lambda room: "changed")
    elif other == "damage":
        for path in (cache / "translated").iterdir():
            path.write_bytes(path.read_bytes()[:-1])
    module = opened().compile(text() + ("\n" if other == "text" else ""))
    assert not isinstance(module, NotRun)
    assert not isinstance(module.translate("first", options), NotRun)
    assert counted.made == ["first"]


@pytest.mark.parametrize("side", SIDES)
def test_what_is_refused_is_refused_again(side: str, cache: Path) -> None:
    """An instruction that is not translated, a symbol that is missing, a body that is no code: each time."""
    opened, _, text = SIDES[side]
    lines = text().splitlines()
    if side == "ptx":
        place = next(number for number, line in enumerate(lines) if "add.u32" in line)
        wrong = [lines[place].replace("add.u32", "frob.u32"), lines[place].replace("add.u32", "?.u32")]
    else:
        place = next(number for number, line in enumerate(lines) if line.startswith("\ts_endpgm"))
        wrong = ["\tv_frob_b32 v0, v1\n\ts_endpgm", "\tv_add_u32_e32 v0, v1, v2 frob\n\ts_endpgm"]
    for line in wrong:
        changed = "\n".join([*lines[:place], line, *lines[place + 1 :]])
        told = []
        for _ in range(2):
            module = opened().compile(changed)
            found = module if isinstance(module, NotRun) else module.translate("first")
            assert isinstance(found, NotRun), line
            told.append(found)
        assert told[0] == told[1]


def test_of_what_is_known_only_names_are_read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An assembly file's code is left where it is, until a kernel is wanted that was not translated."""
    _said(_amd(), _assembly(), "first")
    read: list[int] = []
    whole = again.read
    monkeypatch.setattr(again, "read", lambda text: read.append(1) or whole(text))  # type: ignore[func-returns-value]
    _said(_amd(), _assembly(), "first")
    assert not read
    _said(_amd(), _assembly(), "second")
    assert read == [1]
