"""Read by every Python of a run: PyTorch gets a virtual device when it is imported."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

_HERE = str(Path(__file__).parent)


def _their_own() -> None:
    """The sitecustomize that this one hides, where there is one."""
    others = [path for path in sys.path if path and Path(path).resolve() != Path(_HERE).resolve()]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None and spec.origin != __file__:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("PORTER_TORCH_SIDE"):
    import porter_torch  # type: ignore[import-not-found]

    porter_torch.install()
_their_own()
