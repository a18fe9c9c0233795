"""No repository makes git run a program, and git says about it what it would say anyway."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from porter.check.history import base_named, blobs_of, contents
from porter.errors import Unusable
from porter.system import git as ours
from porter.system.process import Completed, run
from tests.check.repositories import ENVIRONMENT, REDUCE, commit, git, repository, write
from tests.system.hostile_repository import FIRES_FOR_GIT, TRAPS, Trap, bitten, source, touch


def _set_trap(tmp_path: Path, trap: Trap) -> tuple[Path, Path]:
    marks = tmp_path / "marks"
    marks.mkdir()
    tree = source(tmp_path / "tree")
    trap(tree, bitten(marks, trap.__name__))
    for mark in marks.iterdir():
        mark.unlink()
    touch(tree)
    return tree, marks


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
def test_nothing_of_the_repository_runs(tmp_path: Path, trap: Trap) -> None:
    tree, marks = _set_trap(tmp_path, trap)
    lib = tree / "lib"
    for folder in (tree, lib):
        ours.ignored(folder)
        ours.ignores(folder, folder / "out")
        ours.why_not_clean(folder)
        base = base_named(folder, "HEAD")
        assert any(path.endswith("a.cu") for path in base.changed)
        try:
            contents(folder, [blob for blob in blobs_of(folder, base).values() if blob.is_regular])
        except Unusable:
            assert trap.__name__ == "lazy_fetch", "only a repository that lacks objects cannot be read"
    assert not list(marks.iterdir())


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
def test_the_traps_are_traps(tmp_path: Path, trap: Trap) -> None:
    if trap.__name__ not in FIRES_FOR_GIT:
        pytest.skip("git walks into this one with other commands only")
    tree, marks = _set_trap(tmp_path, trap)
    for folder in (tree, tree / "lib"):
        for command in (("status",), ("diff", "HEAD"), ("log", "-1", "-p"), ("cat-file", "-p", "HEAD:./a.cu")):
            if not list(marks.iterdir()):
                subprocess.run(["git", *command], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, check=False)
    assert list(marks.iterdir())


def test_the_repository_is_not_written(tmp_path: Path) -> None:
    tree = source(tmp_path / "tree")
    before = {path: path.read_bytes() for path in (tree / ".git").rglob("*") if path.is_file()}
    for path in (tree / "lib").iterdir():
        os.utime(path, (5, 5))  # git would refresh the index
    assert ours.why_not_clean(tree) is None
    assert base_named(tree, "HEAD").changed == frozenset()
    assert {path: path.read_bytes() for path in (tree / ".git").rglob("*") if path.is_file()} == before


def test_a_linked_work_tree_and_a_submodule_are_repositories(tmp_path: Path) -> None:
    tree = source(tmp_path / "tree")
    git(tree, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    other = tmp_path / "other"
    assert ours.work_tree_root(other / "lib") == other
    assert ours.why_not_clean(other) is None
    commit(other, {"lib/b.cu": REDUCE})
    assert base_named(other, "main").changed == {"lib/b.cu"}
    assert base_named(tree, "other").changed == frozenset()
    inner = repository(tmp_path / "inner", {"a.cu": REDUCE})
    git(tree, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib/inner")
    git(tree, "commit", "-q", "-m", "more")
    assert ours.why_not_clean(tree) is None
    write(tree, {"lib/inner/a.cu": "int changed;\n"})
    assert "uncommitted" in str(ours.why_not_clean(tree))
    assert "uncommitted" in str(ours.why_not_clean(tree / "lib/inner/a.cu"))


def test_branches_are_named_as_git_names_them(tmp_path: Path) -> None:
    upstream = source(tmp_path / "upstream")
    git(tmp_path, "clone", "-q", str(upstream), "clone")
    clone = tmp_path / "clone"
    first = git(clone, "rev-parse", "HEAD")
    commit(clone, {"lib/b.cu": REDUCE})
    git(clone, "tag", "-a", "-m", "a tag", "v1")
    git(clone, "pack-refs", "--all")
    for name in ("@{u}", "origin/main", "HEAD~1", "HEAD@{1}", "v1~1", first[:10]):
        assert base_named(clone, name).changed == {"lib/b.cu"}, name
    with pytest.raises(Unusable, match="no such commit"):
        base_named(clone, "--output=x")


def test_ignored_files_are_those_that_git_ignores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = source(tmp_path / "tree")
    write(
        tree,
        {".gitignore": "*.log\n", ".git/info/exclude": "/scratch/\n", "lib/x.log": "", "scratch/y": "", "mine": ""},
    )
    home = tmp_path / "home"
    write(home, {".gitconfig": "[core]\n\texcludesFile = ~/.mine\n", ".mine": "mine\n"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert ours.ignored(tree) == {"lib/x.log", "scratch", "mine"}
    assert ours.ignores(tree, tree / "scratch")
    assert not ours.ignores(tree, tree / "lib/out")


def test_configurations_are_listed_again_where_they_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or where they name other files, which can change without them."""
    tree = source(tmp_path / "tree")
    home = tmp_path / "home"
    write(tree, {"one": "", "two": ""})
    write(home, {"mine": "one\n", "other": "two\n", "more": "[core]\n\texcludesFile = ~/mine\n"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(ours, "_lists", {})
    asked: list[str] = []

    def noted(words: list[str], folder: Path, **options: Any) -> Completed:
        asked.extend(word for word in words if word in ("--list", "--get"))
        return run(words, folder, **options)

    def ignored() -> tuple[frozenset[str] | None, int]:
        asked.clear()
        return ours.ignored(tree), asked.count("--list")

    monkeypatch.setattr(ours, "run", noted)
    assert ignored() == (frozenset(), 1), "the repository's alone, for the user has none"
    assert ignored() == (frozenset(), 0)
    write(home, {".gitconfig": "[core]\n\texcludesFile = ~/mine\n"})
    assert ignored() == ({"one"}, 1)
    assert ignored() == ({"one"}, 0)
    write(home, {".gitconfig": "[core]\n\texcludesFile = ~/other\n"})
    assert ignored() == ({"two"}, 1)
    (home / ".gitconfig").unlink()
    write(home, {".config/git/config": "[core]\n\texcludesFile = ~/mine\n"})
    assert ignored() == ({"one"}, 0), "a text that it knows"
    write(home, {".gitconfig": "[include]\n\tpath = more\n"})
    assert ignored() == ({"one"}, 1)
    write(home, {"more": "[core]\n\texcludesFile = ~/other\n"})
    assert ignored() == ({"two"}, 1)
    git(tree, "config", "core.ignoreCase", "true")
    write(home, {"other": "TWO\n"})
    assert ignored() == ({"two"}, 2)


def test_surroundings_do_not_steer_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = source(tmp_path / "tree")
    other = repository(tmp_path / "other", {"x.cu": REDUCE})
    write(tree, {"git": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    (tree / "git").chmod(0o755)
    monkeypatch.setenv("PATH", ":".join(("", ".", os.environ["PATH"])))
    monkeypatch.chdir(tree)
    for name, value in (("DIR", f"{other}/.git"), ("INDEX_FILE", "/nowhere"), ("EXTERNAL_DIFF", "./git"),
                        ("CONFIG_COUNT", "1"), ("CONFIG_KEY_0", "core.fsmonitor"), ("CONFIG_VALUE_0", "./git"),
                        ("EXEC_PATH", str(tree)), ("TRACE", str(tmp_path / "ran"))):  # fmt: skip
        monkeypatch.setenv(f"GIT_{name}", value)
    assert base_named(tree, "HEAD").changed == {"git"}
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "name",
    (".gitignore", "lib/.gitattributes", ".git/packed-refs", ".git/refs/heads/main", ".git/objects/info/alternates"),
)
def test_a_pipe_where_git_reads_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """git itself would wait for somebody to write to it."""
    monkeypatch.setattr("porter.system.process._SECONDS_BEFORE_DOUBTS", 0.5)
    tree = source(tmp_path / "tree")
    (tree / name).unlink(missing_ok=True)
    (tree / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tree / name)
    (tree / ".git/refs/loop").symlink_to(".")
    for path in tree.rglob("*.cu"):
        os.utime(path, (1, 1))  # git looks at what is in it, and at its attributes, only where its time has changed
    began = time.monotonic()
    for _ in range(3):
        assert f"{tree / name}: no regular file" in str(ours.why_not_clean(tree))
    assert time.monotonic() - began < 50
    (tree / name).unlink()
    assert "no regular file" not in str(ours.why_not_clean(tree))


def test_a_repository_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a/.git").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b/.git").write_bytes(b"gitdir: \xff\0/x\n")
    os.mkfifo(tmp_path / "fifo")
    for name in ("a", "b"):
        assert ours.ignored(tmp_path / name) is None
        assert not ours.in_work_tree(tmp_path / name)
    shutil.rmtree(tmp_path / "a/.git")
    os.mkfifo(tmp_path / "a/.git")
    assert ours.why_not_clean(tmp_path / "a") == "it is not in a git work tree"


def test_a_submodule_that_is_the_repository_itself(tmp_path: Path) -> None:
    """By a link, or by a file `.git` that names the outer one's folder: each is asked once."""
    tree = source(tmp_path / "tree")
    here = git(tree, "rev-parse", "HEAD").strip()
    for name in ("self", "other"):
        git(tree, "update-index", "--add", "--cacheinfo", f"160000,{here},{name}")
    git(tree, "commit", "-q", "-m", "modules")
    (tree / "self").symlink_to(".")
    write(tree, {"other/.git": "gitdir: ../.git\n"})
    assert "uncommitted" in str(ours.why_not_clean(tree)), "the files of the outer one are not in `other`"
    shutil.rmtree(tree / "other")
    (tree / "other").symlink_to("self")
    began = time.monotonic()
    assert ours.why_not_clean(tree) is None
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "named", ["/dev", "/proc/self/fd", "/proc/self/root", "/", ".", "..", "x" * 5000, "\0", "\udc80/x", "/dev/stdin"]
)
def test_a_git_file_that_names_no_repository(tmp_path: Path, named: str) -> None:
    write(tmp_path / "tree", {"a.cu": REDUCE})
    (tmp_path / "tree/.git").write_text(f"gitdir: {named}\n", "utf-8", "surrogateescape")
    assert ours.why_not_clean(tmp_path / "tree") == "it is not in a git work tree"
    assert ours.ignored(tmp_path / "tree") is None
    assert ours.commit_of(tmp_path / "tree") == ""


def test_a_git_file_that_names_another_repository(tmp_path: Path) -> None:
    """As git has it, that one's index with this folder's files; nothing runs or is written."""
    other = source(tmp_path / "other")
    marks = tmp_path / "marks"
    marks.mkdir()
    git(other, "config", "core.fsmonitor", f"{bitten(marks, 'monitor')}; true")
    git(other, "config", "filter.x.clean", bitten(marks, "filter"))
    write(tmp_path / "tree", {"lib/a.cu": REDUCE, ".gitattributes": "* filter=x\n", ".git": f"gitdir: {other}/.git\n"})
    before = {path: path.read_bytes() for path in (other / ".git").rglob("*") if path.is_file()}
    assert "uncommitted" in str(ours.why_not_clean(tmp_path / "tree"))
    assert base_named(tmp_path / "tree", "HEAD").changed >= {"top.txt"}
    assert before == {path: path.read_bytes() for path in (other / ".git").rglob("*") if path.is_file()}
    assert not list(marks.iterdir())


@pytest.mark.parametrize("name", ["index", "packed-refs", "shallow", "objects/info/alternates"])
def test_files_of_terabytes_are_named(tmp_path: Path, name: str) -> None:
    """They take no room where they are, and would fill the disk where they are copied to."""
    tree = source(tmp_path / "tree")
    path = tree / ".git" / name
    path.parent.mkdir(exist_ok=True, parents=True)
    with path.open("ab") as file:
        file.truncate(1 << 42)
    began = time.monotonic()
    assert f"{path}: File too large" in str(ours.why_not_clean(tree))
    assert ours.commit_of(tree) == ""
    assert time.monotonic() - began < 20


def test_objects_that_are_borrowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another repository, in a circle, from nowhere; and a pipe among them is named where git waits for it."""
    monkeypatch.setattr("porter.system.process._SECONDS_BEFORE_DOUBTS", 0.5)
    tree = source(tmp_path / "tree")
    lender = source(tmp_path / "lender")
    places = f"{lender}/.git/objects\n{tree}/.git/objects\n../objects\n/nowhere\n# {tmp_path}\n"
    write(tree, {".git/objects/info/alternates": places})
    write(lender, {".git/objects/info/alternates": f"{tree}/.git/objects\n"})
    assert ours.why_not_clean(tree) is None
    os.mkfifo(lender / ".git/objects/info/commit-graph")
    clean = tmp_path / "clean"
    clean.mkdir()
    (clean / "objects").symlink_to(tree / ".git/objects")
    assert lender / ".git/objects/info/commit-graph" in list(ours._odd_files(tree, clean))
    answer = str(ours.why_not_clean(tree))
    assert answer == "None" or "no regular file" in answer
