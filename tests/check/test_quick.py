"""What is worked out from a kept tree and a change is what looking at all files finds."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from porter.check.fail_on import FailOn
from porter.check.gate import CheckRequest, sides_of
from porter.check.history import base_named
from porter.check.quick import both_quickly
from porter.check.side import Machine, Side
from porter.check.store import Store
from porter.project.reuse import Shown
from porter.settings import Choices
from tests.check.repositories import SPIN, checked, commit, git, repository, write

FOLDERS = ("", "a", "a/include", "b", "b/src")
NAMES = ("one", "two", "util", "common", "three", "four", "five", "six")
TEXTS = (
    "int plain();\n",
    "__device__ int atomicAdd(int *p, double v);\n",
    "template <typename T> struct float4 { T v; };\n",
    "#define __ballot(x) mine(x)\n",
    "#include <hip/hip_runtime.h>\n",
    "#include <cuda_runtime.h>\n",
    "#include <vector>\n",
    "inline void cudaMine() { }\n",
    "#ifdef USE_ROCM\n__device__ int atomicAdd(int *p, double v);\n#endif\n",
    SPIN,
)
USES = '#include "h.cuh"\nstatic int used() { return f(1); }\n'
BUILDS = {"CMakeLists.txt": "find_package(CUDA)\nadd_library(x a/one.cu)\n", "a/setup.py": "import torch\n"}


class Scans(Store):
    """Keeps what it found in files, and nothing of whole trees."""

    trees = None


def some_path(chance: random.Random) -> str:
    """Few names, so that includes mean files, some of them several."""
    suffix = chance.choices((".cu", ".cuh", ".h", ".cpp", ".hip", ".md"), (4, 3, 5, 2, 1, 1))[0]
    return "/".join(filter(None, (chance.choice(FOLDERS), chance.choice(NAMES) + suffix)))


def some_text(chance: random.Random, *, calm: bool) -> str:
    """Includes and things that are seen elsewhere."""
    names = [
        chance.choice(NAMES) + chance.choice((".h", ".cuh", ".h", ".cuh", ".cu")) for _ in range(chance.randrange(4))
    ]
    if calm:
        names = [name for name in names if not name.endswith(".cu")]
    folders = ("", "", "a/", "../a/", "include/")
    lines = [f'#include "{chance.choice(folders)}{name}"\n' for name in names]
    lines = [line if chance.random() < 0.8 else f"#ifdef __HIP_PLATFORM_NVIDIA__\n{line}#endif\n" for line in lines]
    texts = TEXTS[:4] if calm else TEXTS
    return "".join((*lines, *chance.choices(texts, k=chance.randrange(3)), f"// {chance.random()}\n"))


def changed(root: Path, chance: random.Random) -> None:
    """Edits, adds and removes some files."""
    paths = sorted(path for path in root.rglob("*.*") if path.is_file() and ".git" not in path.parts)
    for _ in range(chance.randint(1, 3)):
        what = chance.random()
        if what < 0.5:
            path = chance.choice(paths)
            if path.exists() and path.suffix != ".py":
                path.write_text(path.read_text() + some_text(chance, calm=True))
        elif what < 0.8:
            write(root, {some_path(chance): some_text(chance, calm=chance.random() < 0.8)})
        else:
            chance.choice(paths).unlink(missing_ok=True)


def told(side: Side, paths: set[str]) -> dict[str, object]:
    """All that the gate asks about files."""
    found: dict[str, object] = {"files": side.files, "renamed": side.names.renamed, "apart": side.names.apart}
    found["mentions"], found["notes"] = side.mentions, side.notes
    for path in paths:
        entry, known = side.entries.get(path), side.known.get(path)
        about = [entry.kind if entry else None, known, side.key_of(path), side.flags_of(path)]
        about += [side.dialects.get(path), side.shown.get(path, Shown()), side.dependents((path,))]
        if known is not None and path in side.dialects:
            about += [side.graph.reachable(path), set(side.graph.search_folders(path)), set(side.users.get(path, ()))]
        found[path] = about
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_all_files_tell(seed: int, tmp_path: Path) -> None:
    """Random trees and changes; most of them need no look at all files."""
    chance = random.Random(seed)
    files = {some_path(chance): some_text(chance, calm=seed > 0) for _ in range(25)}
    root = repository(tmp_path / "p", {**files, **BUILDS})
    choices = replace(Choices(), dialect=(("b/**", "hip"),)) if seed == 5 else Choices()
    store, scans = Store(tmp_path / "known.sqlite"), Scans(tmp_path / "scans.sqlite")
    request = CheckRequest(root, choices, 1, FailOn.REVIEW, "HEAD")
    quick = 0
    for _ in range(12):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            base = base_named(root, "HEAD")
            found = both_quickly(root, base, Path(one), Machine(choices, store, 1))
            whole = sides_of(request, Machine(choices, scans, 1), Path(other))
            assert whole.before is not None
            if found is not None:
                quick += 1
                paths = {*base.changed, *whole.before.known, *whole.head.known}
                assert told(found.head, paths) == told(whole.head, paths)
                assert told(found.before, paths) == told(whole.before, paths)
            else:
                sides_of(request, Machine(choices, store, 1), Path(other))
            store.save()
            scans.save()
        if chance.random() < 0.4:
            commit(root)
        changed(root, chance)
    assert quick >= 4 or seed == 0, quick


def test_notes_are_those_of_a_first_look(tmp_path: Path) -> None:
    """What the settings and a compilation database want and do not get is told each time."""
    files = {"a.cu": USES, "h.cuh": "int f();\n", "compile_commands.json": "{}\n"}
    root = repository(tmp_path / "p", files)
    engine = replace(Choices().engine, rocm="9999")
    settings: tuple[dict[str, object], ...] = (
        {"include_dirs": ("nowhere",), "engine": engine},
        {"exclude": ("nothing/",), "omit": ("*.txt",), "dialect": (("b/**", "hip"),), "include": ("*.cu", "*.none")},
    )
    store = Store(tmp_path / "known.sqlite")
    for choices in settings:
        first = checked(root, "HEAD", store=store, **choices).notes
        assert len(first) >= 3
        write(root, {"h.cuh": "int f(int);\n"})
        base = base_named(root, "HEAD")
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(replace(Choices(), **choices), store, 1)  # type: ignore[arg-type]
            assert both_quickly(root, base, Path(folder), machine) is not None
        assert checked(root, "HEAD", store=store, **choices).notes == first


def test_later_commits_and_damage(tmp_path: Path) -> None:
    """A tree that is kept serves other commits; one that is damaged is made again."""
    root = repository(tmp_path / "p", {"a.cu": USES + SPIN, "h.cuh": "int f();\n"})
    store = Store(tmp_path / "known.sqlite")
    checked(root, "HEAD", store=store)
    (kept,) = (tmp_path / "trees-1").iterdir()
    commit(root, {"b.cu": USES + SPIN.replace("locked", "b")})
    write(root, {"h.cuh": "int f(int);\n"})
    for _ in range(2):
        result = checked(root, "HEAD", store=store)
        assert (result.changed, result.dependents) == (("h.cuh",), ("a.cu", "b.cu"))
        assert not result.failing
        assert list((tmp_path / "trees-1").iterdir()) == [kept]
    with sqlite3.connect(kept) as connection:
        connection.execute("UPDATE known SET value = substr(value, 1, 20) WHERE key LIKE 'file/%'")
    connection.close()
    assert checked(root, "HEAD", store=store).dependents == ("a.cu", "b.cu")
    assert [path.name == kept.name for path in (tmp_path / "trees-1").iterdir()] == [False]


def test_what_git_is_told_to_overlook_counts(tmp_path: Path) -> None:
    """Files that git shall assume to be unchanged are looked at all the same."""
    root = repository(tmp_path / "p", {"a.cu": "int f();\n", "b.cu": "int g();\n"})
    store = Store(tmp_path / "known.sqlite")
    checked(root, "HEAD", store=store)
    git(root, "update-index", "--assume-unchanged", "a.cu")
    write(root, {"a.cu": SPIN})
    assert checked(root, "HEAD", store=store).changed == ("a.cu",)
    assert checked(root, "HEAD").changed == ("a.cu",)
