"""Units that a linker puts together."""

from __future__ import annotations

from porter.validation.devices.ptx.lines import source_of
from porter.validation.devices.ptx.model import Instruction
from porter.validation.devices.ptx.read import read
from porter.validation.programs.loaded import _merged

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
