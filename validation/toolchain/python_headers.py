"""The headers of the Python that runs."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from porter.validation.toolchain.result import Missing

from porter.system.needs import need


def python_headers() -> Path | Missing:
    """The folder with Python.h."""
    folder = Path(sysconfig.get_paths()["include"])
    if (folder / "Python.h").is_file():
        return folder
    return Missing(f"no Python headers in {folder}: {need('Python headers').remedy}")
