"""Units that a linker puts together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from porter.validation.devices.core.hostcc import HostCompiler, find_host_compiler
from porter.validation.devices.ptx.lines import source_of
from porter.validation.devices.ptx.model import Instruction
from porter.validation.devices.ptx.read import read
from porter.validation.programs.loaded import PtxModule, _merged
from porter.validation.programs.sides import CUDA
from porter.validation.programs.store import name_hash

HEAD = ".version 8.5\n.target sm_80\n.address_size 64\n"


def test_each_unit_counts_its_own_files() -> None:
    """All units of nvcc's begin with 1; a body may name files, too, and calls that were inlined are places of files."""
    units = (
        f'{HEAD}.extern .func f();\n.visible .entry k() {{\n.loc 1 3 1\nret;\n}}\n.file 1 "k.cu"\n',
        f'{HEAD}.visible .func f() {{\n.file 2 "late.h"\n.loc 1 5 1\nret;\n.loc 2 7 1\nret;\n'
        '.loc 3 9 1, function_name $L, inlined_at 1 6 2\nret;\n}\n.file 1 "f.cu"\n.file 3 "/usr/include/system.h"\n',
    )
    whole = _merged([read(unit, bodies_later=True) for unit in units])
    for function in whole.functions.values():
        function.complete()
    found = {
        name: [source_of(whole, item) for item in function.items if isinstance(item, Instruction)]
        for name, function in whole.functions.items()
    }
    assert found == {"k": [("k.cu", 3)], "f": [("f.cu", 5), ("late.h", 7), ("f.cu", 6)]}


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "poison", "levels"), [(900, False, (0, 1, 1)), (900, True, (1,)), (9, False, (1,))])
def test_what_takes_long_to_optimise_is_first_built_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int, poison: bool, levels: tuple[int, ...]
) -> None:
    """Asked for level 0, 1 and 0: better code is kept. What follows unwritten values is not built twice."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    compiler = find_host_compiler()
    assert isinstance(compiler, HostCompiler)
    lines = "".join(f"mad.lo.s32 %r1, %r1, {2 * step + 3}, %r2;\nshr.u32 %r2, %r1, 7;\n" for step in range(steps))
    body = f".reg .b32 %r<3>;\n.reg .b64 %d<2>;\nld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\n{lines}"
    text = f"{HEAD}.visible .entry k(.param .u64 p) {{\n{body}st.global.u32 [%d1], %r1;\nret;\n}}\n"
    module = PtxModule(CUDA, tmp_path, compiler, program=read(text))
    for asked, level in zip((0, 1, 0), levels, strict=False):
        module.write_kernel("k", poison, asked)
        written = (tmp_path / (name_hash("k") + (".poison" if poison else ""))).read_text()
        assert re.findall(r"^level\t(\d)", written, re.M) == [str(level)]
