"""porter.toml and [tool.porter]."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.errors import Unusable
from porter.settings import Choices, Handling, load_choices, with_overrides

EVERYTHING = """
rocm = "6.3"
warp = "native"
include = ["src/"]
exclude = ["*.gen.cu"]
omit = ["docs/"]
gitignored = "copy"
vendored = "skip"
vendored_folders = ["ext"]
ignore_names = ["cudaHelper"]
include_dirs = ["include"]
defines = ["USE_X=1"]
native_kernels = ["fast"]
preserve_kernels = ["safe"]
disable = ["A005"]

[names]
MY_MALLOC = "MY_HIP_MALLOC"
"""


def test_every_setting(tmp_path: Path) -> None:
    """Each key arrives."""
    (tmp_path / "porter.toml").write_text(EVERYTHING)
    choices = load_choices(tmp_path)
    engine = choices.engine
    assert (engine.rocm, engine.warp, engine.disabled) == ("6.3", "native", frozenset({"A005"}))
    assert engine.custom_names == (("MY_MALLOC", "MY_HIP_MALLOC"),)
    assert (engine.native_kernels, engine.preserve_kernels) == (("fast",), ("safe",))
    assert (choices.include, choices.exclude, choices.omit) == (("src/",), ("*.gen.cu",), ("docs/",))
    assert (choices.gitignored, choices.vendored) == (Handling.COPY, Handling.SKIP)
    assert (choices.vendored_folders, choices.ignore_names) == (("ext",), ("cudaHelper",))
    assert (choices.include_dirs, choices.defines) == (("include",), ("USE_X=1",))


def test_pyproject_and_nearest_file(tmp_path: Path) -> None:
    """The settings of the folder above count, up to the repository's root."""
    (tmp_path / "pyproject.toml").write_text('[tool.porter]\nrocm = "6.4"\n')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert load_choices(inner).engine.rocm == "6.4"
    (tmp_path / "a" / ".git").mkdir()
    assert load_choices(inner) == Choices()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rcom = '6.3'", "unknown setting 'rcom'"),
        ("rocm = 6.3", "rocm must be a string"),
        ("rocm = 'six'", "rocm must be a version"),
        ("warp = 'wide'", "warp must be one of preserve, native"),
        ("exclude = 'x'", "exclude must be a list"),
        ("vendored = 'drop'", "vendored must be one of port, copy, skip"),
        ("names = ['a']", "names must be a table"),
        ("names = {A = 'not a name'}", "names: 'not a name' is no name of C\\+\\+"),
        ("names = {A = '9b'}", "'9b' is no name"),
        ("names = {A = ''}", "'' is no name"),
        ("names = {A = 'b::'}", "'b::' is no name"),
        ("names = {'a b' = 'c'}", "'a b' is no name"),
        ("names = {\"\\u0438\" = 'c'}", "is no name"),
        ("ignore_names = ['cudaA', 'cuda b']", "ignore_names: 'cuda b' is no name"),
        ('ignore_names = ["\\u0438"]', "ignore_names: .* is no name"),
        ("names = {A = 'B', B = 'A'}", "'A' comes back from what it is replaced by"),
        ("names = {A = 'B', B = 'C', C = 'D', D = 'B'}", "'B' comes back"),
        ("= 3", "porter.toml"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, text: str, message: str) -> None:
    """A typo is an error that names the file and the key, not a default."""
    (tmp_path / "porter.toml").write_text(text)
    with pytest.raises(Unusable, match=message):
        load_choices(tmp_path)


@pytest.mark.parametrize(
    "names",
    [{"A": "mine::B"}, {"a::b": "c"}, {"A": "B", "B": "C"}, {"A": "A", "B": "A"}, {"_a9": "_"}],
)
def test_names_that_can_be(tmp_path: Path, names: dict[str, str]) -> None:
    """With namespaces, one after the other, and a name that stays."""
    lines = (f'"{old}" = "{new}"\n' for old, new in names.items())
    (tmp_path / "porter.toml").write_text("[names]\n" + "".join(lines))
    assert dict(load_choices(tmp_path).engine.custom_names) == names


def test_two_settings_files_are_an_error(tmp_path: Path) -> None:
    """Nobody has to guess which one counts."""
    (tmp_path / "porter.toml").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.porter]\n")
    with pytest.raises(Unusable, match="two files"):
        load_choices(tmp_path)


def test_the_command_line_wins() -> None:
    """What is given there replaces the file's value; what is not given stays."""
    choices = with_overrides(Choices(exclude=("a",)), rocm="6.4", warp=None, exclude=(), vendored=Handling.COPY)
    assert (choices.engine.rocm, choices.engine.warp) == ("6.4", "preserve")
    assert (choices.exclude, choices.vendored) == (("a",), Handling.COPY)
