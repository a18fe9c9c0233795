"""What a row of the table is: a function of a library, how it is called, and what it has to give."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

Tensors = tuple[torch.Tensor, ...]


def same(tensors: Tensors) -> Tensors:
    """Normally distributed inputs as they are."""
    return tensors


@dataclass(frozen=True)
class Row:
    """One function, forward and, where it has one, backward."""

    name: str
    call: Callable[..., Any]
    """On tensors of these shapes; may return several."""
    reference: Callable[..., Any]
    """The same on float64."""
    shapes: tuple[tuple[int, ...], ...]
    backward: bool = True
    tolerance: float = 2e-3
    """Of the largest value of each output."""
    change: Callable[[Tensors], Tensors] = same


@dataclass(frozen=True)
class Library:
    """Rows, and what the library needs to be imported."""

    rows: tuple[Row, ...]
    bare: tuple[str, ...] = ()
    """Packages that are imported without their `__init__`, which asks for compiled code or for much else."""
    stand_ins: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Modules that only the rest of the library needs, with the names that are asked of them."""
    environment: tuple[tuple[str, str, str], ...] = ()
    """Variable, its value for gfx942, and for ptx."""
    caches: tuple[str, ...] = ()
    """Variables that name a folder where the library keeps choices: it gets an empty one."""


def of(module: str, name: str) -> Callable[..., Any]:
    """Imported when it is called: most libraries ask for a GPU at once."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args, **kwargs)

    return call


def first(call: Callable[..., Any]) -> Callable[..., Any]:
    """Of several results the first."""

    def only(*args: Any) -> Any:
        found = call(*args)
        return found[0] if isinstance(found, tuple) else found

    return only


def import_bare(name: str) -> None:
    """A package whose modules can be imported, without what its `__init__` does."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError(f"no package {name} (put its sources on PYTHONPATH)", name=name)
    package = types.ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = package


def stand_in(name: str, names: Mapping[str, Any]) -> None:
    """A module of these names, packages around it included."""
    outer = name.rpartition(".")[0]
    if outer and outer not in sys.modules:
        stand_in(outer, {})
    module = types.ModuleType(name)
    module.__dict__.update({"__path__": [], **names})
    sys.modules[name] = module


def rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """RMS norm."""
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w
