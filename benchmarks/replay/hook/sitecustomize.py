"""Found by every Python that `record` starts: loads the recorder once the virtual device is imported."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

WATCHED = "porter.validation.devices.ptx.device"


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the others find the module, and records what it launches."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's own spec, with a loader that calls the recorder behind it."""
        if fullname != WATCHED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, own: importlib.abc.Loader) -> None:
        self._own = own

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._own.exec_module(module)
        importlib.import_module("benchmarks.replay.recorder").install(module)


sys.path.append(str(Path(__file__).parents[3]))
sys.meta_path.insert(0, _Finder())
