"""Lists the packages of the three source folders and what is compiled; everything else is in pyproject.toml."""

import hashlib
from pathlib import Path

from setuptools import Extension, find_namespace_packages, setup

DATA = ("toml", "hpp", "h", "json", "j2", "c", "cpp", "md", "css", "js", "txt")
"""Suffixes of files that are installed beside the code, however deep they lie."""
FOLDERS = {"porter": "porter", "rules": "porter.rules", "validation": "porter.validation"}


def packages() -> list[str]:
    """Import names of every package below the three folders; folders of data count, or setuptools warns of each."""
    found: list[str] = []
    for folder, name in FOLDERS.items():
        found.append(name)
        found += [f"{name}.{package}" for package in find_namespace_packages(folder, exclude=["*__pycache__*"])]
    return sorted(found)


def readers() -> Extension:
    """The readers of C++ in C; without a compiler or Python's headers porter is installed all the same, and slower."""
    folder = Path("porter/cpp/compiled")
    headers, sources = (sorted(map(Path.as_posix, folder.glob(pattern))) for pattern in ("*.h", "*.c"))
    digest = hashlib.sha256(b"".join(Path(file).read_bytes() for file in headers + sources)).hexdigest()
    return Extension(
        "porter.cpp.compiled._c",
        sources,
        depends=headers,
        define_macros=[("SOURCES", f'"{digest}"')],
        optional=True,
    )


setup(
    packages=packages(),
    ext_modules=[readers()],
    package_data={"": ["py.typed", *(f"**/*.{suffix}" for suffix in DATA)]},
)
