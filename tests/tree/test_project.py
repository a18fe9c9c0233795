"""Listing a repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from porter.errors import Unusable
from porter.project.discovery import Kind, Project, discover
from porter.settings import Choices, Handling, load_choices
from tests.tree.trees import make_tree


def kinds(project: Project) -> dict[str, Kind]:
    """Kind of each path."""
    return {entry.path: entry.kind for entry in project.entries}


def git(folder: Path, *arguments: str) -> None:
    """Runs git as someone."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_kinds_and_order(tmp_path: Path) -> None:
    """Code by suffix in any case, links as links, `.git` not at all, in byte order."""
    make_tree(tmp_path, {"b/x.CU": "", "a.txt": "", "B.h": "", ".git/config": "", "l": "->b", "sub/.git": "gitdir"})
    os.mkfifo(tmp_path / "pipe")
    found = kinds(discover(tmp_path, Choices()))
    assert list(found) == ["B.h", "a.txt", "b", "b/x.CU", "l", "pipe", "sub"]
    assert found["b/x.CU"] is Kind.CODE
    assert found["l"] is Kind.LINK
    assert found["pipe"] is Kind.SPECIAL


@pytest.mark.parametrize(
    "name", ["k.tcu", "k.cuknl", "k.hu", "k.CUI", "k.cuinc", "k.txx", "k.cpp.cuda", "k.hpp.in", "k.cu.in"]
)
def test_suffixes_that_projects_make_up(tmp_path: Path, name: str) -> None:
    """What their sources include is code, too."""
    make_tree(tmp_path, {name: ""})
    assert kinds(discover(tmp_path, Choices())) == {name: Kind.CODE}


@pytest.mark.parametrize(
    "name", ["k.cubin", "k.cur", "k.cue", "k.cube", "k.cuda", "k.custom", "k.focus", "cu", "k.pc.in", "h.in"]
)
def test_suffixes_of_other_things(tmp_path: Path, name: str) -> None:
    """Machine code, cursors and the like."""
    make_tree(tmp_path, {name: ""})
    assert kinds(discover(tmp_path, Choices())) == {name: Kind.OTHER}


def test_a_loop_of_folder_links_ends(tmp_path: Path) -> None:
    """Links are never followed."""
    make_tree(tmp_path, {"a/b/c.cu": "", "a/b/up": "->../..", "self": "->self"})
    assert len(discover(tmp_path, Choices()).entries) == 5


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    """Any file name the system allows is a file name."""
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff.cu")).write_bytes(b"")
    (entry,) = discover(tmp_path, Choices()).entries
    assert os.fsencode(entry.path) == b"\xff.cu"


def test_include_exclude_and_omit(tmp_path: Path) -> None:
    """Only included files are ported, excluded ones are copied, omitted ones are not there."""
    make_tree(tmp_path, {"src/a.cu": "", "src/b.cu": "", "test/t.cu": "", "doc/d.cu": "", "doc/x/y.h": ""})
    choices = Choices(include=("src/", "test/"), exclude=("src/b.cu",), omit=("doc/x",))
    project = discover(tmp_path, choices)
    found = kinds(project)
    assert {path for path, kind in found.items() if kind is Kind.CODE} == {"src/a.cu", "test/t.cu"}
    assert found["src/b.cu"] is found["doc/d.cu"] is Kind.OTHER
    assert project.left_out == ("doc/x",)


def test_globs_are_relative_to_the_settings_file(tmp_path: Path) -> None:
    """Settings above the source keep their meaning."""
    make_tree(tmp_path, {"porter.toml": 'exclude = ["/lib/a.cu"]', "lib/a.cu": "", "lib/b.cu": ""})
    found = kinds(discover(tmp_path / "lib", load_choices(tmp_path / "lib")))
    assert found == {"a.cu": Kind.OTHER, "b.cu": Kind.CODE}


@pytest.mark.parametrize(
    ("handling", "expected"), [(Handling.PORT, Kind.CODE), (Handling.COPY, Kind.OTHER), (Handling.SKIP, None)]
)
def test_vendored_folders(tmp_path: Path, handling: Handling, expected: Kind | None) -> None:
    """Other people's code is ported, copied or left out as a whole."""
    make_tree(tmp_path, {"a.cu": "", "third_party/x/b.cu": ""})
    found = kinds(discover(tmp_path, Choices(vendored=handling)))
    assert found["a.cu"] is Kind.CODE
    assert found.get("third_party/x/b.cu") is expected


@pytest.mark.parametrize(
    ("handling", "expected"), [(Handling.PORT, Kind.CODE), (Handling.COPY, Kind.OTHER), (Handling.SKIP, None)]
)
def test_gitignored_files(tmp_path: Path, handling: Handling, expected: Kind | None) -> None:
    """What git ignores is left out unless asked for; a tracked file is never ignored."""
    make_tree(tmp_path, {".gitignore": "build/\n*.gen.cu\n", "a.gen.cu": "", "build/b.cu": "", "kept.gen.cu": ""})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "kept.gen.cu")
    project = discover(tmp_path, Choices(gitignored=handling))
    found = kinds(project)
    assert found["kept.gen.cu"] is Kind.CODE
    assert found.get("a.gen.cu") is expected
    assert found.get("build/b.cu") is expected
    assert project.left_out == (("a.gen.cu", "build") if expected is None else ())


def test_an_ignored_source_folder_is_still_ported(tmp_path: Path) -> None:
    """A repository that ignores the very folder to port does not make it empty."""
    make_tree(tmp_path, {".gitignore": "work/\n", "work/a.cu": ""})
    git(tmp_path, "init", "-q")
    assert kinds(discover(tmp_path / "work", Choices())) == {"a.cu": Kind.CODE}


def test_the_repositorys_git_configuration_runs_nothing(tmp_path: Path) -> None:
    """A hostile `core.fsmonitor` is a program that git would start."""
    make_tree(tmp_path, {".gitignore": "x\n", "a.cu": "", "hook": "#!/bin/sh\ntouch ran\n"})
    (tmp_path / "hook").chmod(0o755)
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.fsmonitor", str(tmp_path / "hook"))
    discover(tmp_path, Choices())
    assert not (tmp_path / "ran").exists()


def test_what_cannot_be_ported(tmp_path: Path) -> None:
    """Each wrong source is named."""
    (tmp_path / "a.txt").write_text("")
    for name, reason in {"none.cu": "No such file", "a.txt": "not a C"}.items():
        with pytest.raises(Unusable, match=f"{name}.*{reason}"):
            discover(tmp_path / name, Choices())


NVIDIAS = """/*
 * Copyright 1993-2020 NVIDIA Corporation.  All rights reserved.
 *
 * NOTICE TO LICENSEE:
 */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#endif
"""


def test_copies_of_cudas_headers_are_not_ported(tmp_path: Path) -> None:
    """By name, license and guard: a stand-in of the project's own has the name and the guard."""
    ours = "/* for builds without NVIDIA's toolkit */\n#ifndef __CUDA_FP16_H__\n#endif\n"
    half = NVIDIAS.replace("FP16_H__", "FP16_HPP__")
    make_tree(tmp_path, {"a/cuda_fp16.h": NVIDIAS, "a/cuda_fp16.hpp": half, "b/cuda_fp16.h": ours, "c/mine.h": NVIDIAS})
    found = discover(tmp_path, Choices())
    assert {path: kind for path, kind in kinds(found).items() if "/" in path} == {
        "a/cuda_fp16.h": Kind.OTHER,
        "a/cuda_fp16.hpp": Kind.OTHER,
        "b/cuda_fp16.h": Kind.CODE,
        "c/mine.h": Kind.CODE,
    }
    assert [note.partition(" ")[0] for note in found.notes] == ["a/cuda_fp16.h", "a/cuda_fp16.hpp"]
