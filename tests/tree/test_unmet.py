"""What settings ask for and is not to be had: said, or refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from porter.errors import Unusable
from porter.model import Settings
from porter.names.versions import NEWEST_ROCM, OLDEST_ROCM
from porter.project.discovery import discover
from porter.project.port import Request, scan
from porter.project.unmet import rule_notes, version_notes
from porter.settings import Choices, load_choices

API = Path(__file__).parents[2] / "rules" / "api"


def _notes(root: Path, choices: Choices) -> tuple[str, ...]:
    return scan(Request(root, choices, 1)).report.header.notes


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_text("int a;\n")
    (tmp_path / "CMakeLists.txt").write_text("project(a)\n")
    (tmp_path / "notes.txt").write_text("")
    return tmp_path


def test_the_versions_are_those_of_the_tables() -> None:
    """Every table says what it was derived from."""
    tables = sorted(API.glob("*.toml"))
    assert tables
    for table in tables:
        found = re.search(r"HIP and ROCm ([0-9., ]+)$", table.read_text(encoding="utf-8"), re.M)
        assert found is not None, table
        versions = found[1].split(", ")
        assert (versions[0], versions[-1]) == (OLDEST_ROCM, NEWEST_ROCM)


@pytest.mark.parametrize("rocm", [None, OLDEST_ROCM, f"{OLDEST_ROCM}.3", "6", "6.3.1", NEWEST_ROCM, f"{NEWEST_ROCM}.9"])
def test_a_version_that_is_known(rocm: str | None) -> None:
    assert not list(version_notes(rocm))


@pytest.mark.parametrize(("rocm", "word"), [("9999", "newer"), ("10.2", "newer"), ("11", "newer"), ("4.5", "older")])
def test_a_version_that_is_not(tree: Path, rocm: str, word: str) -> None:
    """Of a folder and of one file."""
    for source in (tree, tree / "src" / "a.cu"):
        (note,) = _notes(source, Choices(Settings(rocm=rocm)))
        assert f"ROCm {rocm} is {word} than all that porter's tables know" in note


@pytest.mark.parametrize(
    ("globs", "unmet"),
    [
        (("src/",), ()),
        (("*.cu", "CMake*"), ()),
        (("!*.h", "*.cu"), ()),
        (("*.tx",), ("*.tx",)),
        (("src/", "lib/*.cu"), ("lib/*.cu",)),
        (("notes.txt",), ("notes.txt",)),
    ],
)
def test_an_include_that_fits_nothing(tree: Path, globs: tuple[str, ...], unmet: tuple[str, ...]) -> None:
    """Nothing is ported then, or less than was meant."""
    assert _notes(tree, Choices(include=globs)) == tuple(f"include: no source fits {glob!r}" for glob in unmet)


@pytest.mark.parametrize("glob", ["[z-a]", "!", "a\\"])
@pytest.mark.parametrize("key", ["include", "exclude", "omit"])
def test_a_glob_that_is_none(tree: Path, key: str, glob: str) -> None:
    """Wrong use, not a bug of ours; the one that is wrong is named."""
    with pytest.raises(Unusable, match=re.escape(f"{glob!r} is no glob")):
        discover(tree, Choices(**{key: ("src/", glob)}))  # type: ignore[arg-type]


def test_rules_that_there_are_not(tree: Path) -> None:
    """Codes and names of rules for sources and for build files are known."""
    known = Settings(disabled=frozenset({"A005", "unknown-name", "K101"}))
    assert not list(rule_notes(Choices(known)))
    wrong = Settings(disabled=frozenset({"A005", "Z999", "unknown-nam"}))
    assert _notes(tree, Choices(wrong)) == (
        "disable: there is no rule 'Z999'",
        "disable: there is no rule 'unknown-nam'; did you mean 'unknown-name'?",
    )


@pytest.mark.parametrize("key", ["exclude", "omit", "dialect"])
@pytest.mark.parametrize(
    ("globs", "unmet"),
    [
        (("src/",), ()),
        (("/src/*.cu", "notes.*", "!x", "# comment"), ()),
        (("srcs/", "*.cu"), ("srcs/",)),
        (("src/a.cpp", "**/b.cu"), ("src/a.cpp", "**/b.cu")),
    ],
)
def test_other_globs_that_fit_nothing(tree: Path, key: str, globs: tuple[str, ...], unmet: tuple[str, ...]) -> None:
    """Left out, copied or told apart is then what was not meant."""
    value = tuple((glob, "hip") for glob in globs) if key == "dialect" else globs
    notes = _notes(tree, Choices(**{key: value}))  # type: ignore[arg-type]
    assert notes == tuple(f"{key}: nothing fits {glob!r}" for glob in unmet)


def test_settings_for_more_than_one_tree(tree: Path) -> None:
    """What they say of a folder beside fits nothing in this one, and is right."""
    settings = tree / "porter.toml"
    settings.write_text('exclude = ["lib/", "*.bin"]\nomit = ["/src/b.cu"]\nnative_kernels = ["k"]\n')
    assert _notes(tree / "src", load_choices(tree / "src")) == ("omit: nothing fits '/src/b.cu'",)
    assert len(_notes(tree, load_choices(tree))) == 4


def test_what_git_ignores_may_be_named(tree: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    (tree / ".gitignore").write_text("build/\n")
    (tree / "build").mkdir()
    assert not _notes(tree, Choices(exclude=("build/",), omit=("/build",)))


def test_folders_for_clang_that_are_not_there(tree: Path) -> None:
    (tree / "up").symlink_to(tree.parent)
    notes = _notes(tree, Choices(include_dirs=("src", "", "inc", "src/a.cu", "../", "up")))
    assert notes[:2] == ("include_dirs: there is no folder 'inc'", "include_dirs: there is no folder 'src/a.cu'")
    assert [note.split("'")[1] for note in notes[2:]] == ["../", "up"]


def test_kernels_that_there_are_not(tree: Path) -> None:
    (tree / "src" / "a.cu").write_text("namespace n { __global__ void rows(int *p) { *p = 1; } }\n")
    assert not _notes(tree, Choices(Settings(native_kernels=("rows",), preserve_kernels=("rows",))))
    assert not _notes(tree / "src" / "a.cu", Choices(Settings(native_kernels=("of_another_file",))))
    assert _notes(tree, Choices(Settings(native_kernels=("row",), preserve_kernels=("n::rows",)))) == (
        "native_kernels: there is no kernel 'row'; did you mean 'rows'?",
        "preserve_kernels: there is no kernel 'n::rows'; did you mean 'rows'?",
    )


@pytest.mark.parametrize(
    "names",
    [{"hipFree": "cudaFree"}, {"hipFree": "mine", "mine": "cudaFree"}, {"cuMemFree": "mine", "mine": "cuMemFree"}],
)
def test_names_that_come_back_by_the_tables(tree: Path, names: dict[str, str]) -> None:
    """Before the first file, and not once per file."""
    for source in (tree, tree / "src" / "a.cu"):
        with pytest.raises(Unusable, match="comes back from what it is replaced by"):
            scan(Request(source, Choices(Settings(custom_names=tuple(names.items()))), 1))


@pytest.mark.parametrize(
    "names",
    [{"mine": "cudaFree"}, {"cudaFree": "cudaFree"}, {"cudaFree": "mine"}, {"hipFree": "cudaMalloc"}, {"a": "b"}],
)
def test_names_that_do_not_come_back(tree: Path, names: dict[str, str]) -> None:
    """What porter renames once more, what stays, and what is another's."""
    (tree / "src" / "a.cu").write_text("void f() { " + "".join(f"{name}(0); " for name in names) + "}\n")
    answer = scan(Request(tree, Choices(Settings(custom_names=tuple(names.items()))), 1))
    assert not [one for one in answer.report.findings if one.entry.code == "E002"]
