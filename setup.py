"""Lists the packages of the three source folders; everything else is in pyproject.toml."""

from setuptools import find_namespace_packages, setup

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


setup(
    packages=packages(),
    package_data={"": ["py.typed", *(f"**/*.{suffix}" for suffix in DATA)]},
)
