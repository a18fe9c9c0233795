"""The variables that give programs in Python a PyTorch with a virtual device."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from porter.validation.programs.compilers import toolkit_version
from porter.validation.programs.sides import CUDA, HIP, Side

from porter.project.manifest import NAME

_SITE = Path(__file__).with_name("site")


def variables(side: Side) -> dict[str, str]:
    """For a program in Python, or one that builds with Python, on one side."""
    paths = [str(_SITE), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = {"PYTHONPATH": os.pathsep.join(paths), "PORTER_TORCH_SIDE": side.name, "PORTER_RUN_PYTHON": sys.executable}
    plugins = [*filter(None, [os.environ.get("PYTEST_PLUGINS")]), "porter_pytest"]
    return {**found, "PYTEST_PLUGINS": ",".join(plugins), **_version(side)}


def _version(side: Side) -> dict[str, str]:
    """What torch.version says: that of the compiler, of the headers."""
    number = toolkit_version(side)
    return {} if number is None else {"PORTER_TORCH_VERSION": ".".join(number.split(".")[:2])}


def side_of(folder: Path) -> Side:
    """gfx942 in a folder that porter wrote, or below one; else the original's."""
    folder = folder.resolve()
    return HIP if any((one / NAME).is_file() for one in (folder, *folder.parents)) else CUDA
