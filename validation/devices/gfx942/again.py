"""An assembly file that was read before: all but the code of its functions, which is read when it is wanted."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from porter.validation.devices.core.translated import made_by, remembered
from porter.validation.devices.gfx942.text import Data, Function, KernelInfo, Parameter, Program, encoded, read


class _Later(Mapping[str, Function]):
    """Functions of which the names are known."""

    def __init__(self, names: tuple[str, ...], text: str) -> None:
        self._names, self._text = dict.fromkeys(names), text

    @functools.cached_property
    def _read(self) -> Mapping[str, Function]:
        return read(self._text).functions

    def __getitem__(self, name: str) -> Function:
        if name not in self._names:
            raise KeyError(name)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def read_again(text: str) -> Program:
    """As `read`, in a fraction of the time where the same text was read before."""
    found: list[Program] = []

    def first() -> dict[str, Any]:
        found.append(read(text))
        return _packed(found[0])

    rows = remembered(made_by(Path(__file__).parent, "program", encoded(text)), first)
    return found[0] if found else _unpacked(rows, text)


def _packed(program: Program) -> dict[str, Any]:
    kernels = [{**vars(one), "parameters": [tuple(vars(p).values()) for p in one.parameters]} for one in
               program.kernels.values()]  # fmt: skip
    data = [{**vars(one), "content": bytes(one.content)} for one in program.data.values()]
    return {**vars(program), "functions": tuple(program.functions), "kernels": kernels, "data": data}


def _unpacked(rows: dict[str, Any], text: str) -> Program:
    kernels = [KernelInfo(**{**row, "parameters": tuple(Parameter(*one) for one in row["parameters"])}) for row in
               rows["kernels"]]  # fmt: skip
    data = [Data(**{**row, "content": bytearray(row["content"])}) for row in rows["data"]]
    known = {"kernels": {one.name: one for one in kernels}, "data": {one.name: one for one in data}}
    return Program(**{**rows, **known, "functions": _Later(rows["functions"], text)})
