"""What each instruction takes of which unit: the table in `instructions.toml`."""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Issue:
    """One instruction of a wavefront."""

    unit: str
    """valu, mfma, salu, smem, branch, lds, vmem or none."""
    cycles: float
    """Of that unit; 0 where bytes and accesses decide."""
    counter: str
    """The name behind SQ_INSTS_."""


@functools.cache
def _table() -> tuple[tuple[tuple[re.Pattern[str], Issue], ...], dict[str, int]]:
    text = (resources.files("porter.validation.estimate") / "instructions.toml").read_text("utf-8")
    table: dict[str, Any] = tomllib.loads(text)
    rows = tuple(
        (re.compile(row["pattern"]), Issue(row["unit"], row["cycles"], row["counter"])) for row in table["row"]
    )
    return rows, table["mfma"]


_FORMS = re.compile(r"_(?:e32|e64|sdwa)$")
_SHAPE = re.compile(r"v_(?:mfma|smfmac)_[a-z0-9]+?_(\d+x\d+x\d+(?:_\d+b)?)_?(xf32|f16|bf16|f32|i8|f64|fp8|bf8)")


@functools.cache
def issue(mnemonic: str) -> Issue:
    """What an instruction takes; the suffix of its encoding does not count."""
    name = _FORMS.sub("", mnemonic)
    rows, passes = _table()
    found = next((row for pattern, row in rows if pattern.fullmatch(name)), Issue("none", 1, ""))
    if found.unit != "mfma":
        return found
    shape = _SHAPE.match(name.replace("_1k", ""))
    kind = shape[2].replace("bf8", "fp8") if shape else ""
    return Issue("mfma", passes.get(f"{shape[1]}_{kind}", 16) if shape else 16, found.counter)
