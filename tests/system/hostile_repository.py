"""Repositories that want to run a program of theirs when git looks at them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.check.repositories import ENVIRONMENT, REDUCE, git, repository, write

Trap = Callable[[Path, str], None]
"""Sets a trap in a repository; the text is a shell command that leaves a mark."""


def bitten(marks: Path, name: str) -> str:
    """A shell command that leaves a mark."""
    return f"touch {marks / name}"


def source(folder: Path) -> Path:
    """A repository with one kernel, changed since its commit so that git has to read the file."""
    repository(folder, {"lib/a.cu": REDUCE, "lib/notes.txt": "one\n", "top.txt": "top\n"})
    return folder


def touch(folder: Path) -> None:
    """Content that git has to compare: the same size and another time; and a time that it would write down."""
    for path in sorted(folder.glob("*.txt")):
        os.utime(path, (7, 7))
    for path in sorted(folder.rglob("a.cu")):
        path.write_text(REDUCE.replace("sum", "mus"))
        os.utime(path, (1, 1))


def _set(folder: Path, *pairs: tuple[str, str]) -> None:
    for key, value in pairs:
        git(folder, "config", "--add", key, value)


def _script(folder: Path, name: str, command: str) -> Path:
    path = folder / ".git" / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)
    return path


def filter_clean(folder: Path, command: str) -> None:
    _set(folder, ("filter.x.clean", command), ("filter.x.smudge", command), ("filter.x.required", "true"))
    write(folder, {".gitattributes": "* filter=x\n"})


def filter_process(folder: Path, command: str) -> None:
    _set(folder, ("filter.x.process", command), ("filter.x.required", "true"))
    write(folder, {".git/info/attributes": "* filter=x\n"})


def external_diff(folder: Path, command: str) -> None:
    _set(folder, ("diff.external", str(_script(folder, "differ", command))))


def diff_driver(folder: Path, command: str) -> None:
    _set(folder, ("diff.x.command", command), ("diff.x.textconv", command), ("diff.x.cachetextconv", "true"))
    write(folder, {".gitattributes": "* diff=x merge=x\n"})


def merge_driver(folder: Path, command: str) -> None:
    _set(folder, ("merge.x.driver", command), ("merge.default", "x"))


def monitor(folder: Path, command: str) -> None:
    _set(folder, ("core.fsmonitor", str(_script(folder, "monitor", command))))


def hooks(folder: Path, command: str) -> None:
    for name in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        _script(folder, f"hooks/{name}", command)


def hooks_elsewhere(folder: Path, command: str) -> None:
    for name in ("post-index-change", "post-checkout", "reference-transaction"):
        _script(folder, f"other/{name}", command)
    _set(folder, ("core.hooksPath", str(folder / ".git/other")))


def programs(folder: Path, command: str) -> None:
    keys = ("core.pager", "pager.status", "pager.diff", "core.editor", "core.sshCommand", "core.gitProxy",
            "core.askPass", "credential.helper", "core.alternateRefsCommand", "gpg.program", "gpg.ssh.program",
            "sequence.editor", "interactive.diffFilter", "uploadpack.packObjectsHook", "trailer.x.command",
            "alias.ls-tree", "alias.status", "browser.x.cmd", "man.x.cmd", "difftool.x.cmd")  # fmt: skip
    _set(folder, *((key, f"!{command}" if key.startswith("alias") else command) for key in keys))
    _set(folder, ("log.showSignature", "true"), ("core.commentChar", "auto"))


def included_configuration(folder: Path, command: str) -> None:
    write(
        folder, {"evil": f'[filter "x"]\n\tclean = "{command}"\n\trequired = true\n', ".gitattributes": "* filter=x\n"}
    )
    _set(folder, ("include.path", str(folder / "evil")), ("includeIf.gitdir:/.path", str(folder / "evil")))


def work_tree_configuration(folder: Path, command: str) -> None:
    _set(folder, ("extensions.worktreeConfig", "true"))
    write(folder, {".git/config.worktree": f'[core]\n\tfsmonitor = "{command}; true"\n'})


def lazy_fetch(folder: Path, command: str) -> None:
    """A partial clone that lacks a file, and a remote that is a command."""
    url = f"ext::sh -c {command.replace(' ', '% ')}"
    _set(folder, ("remote.origin.url", url), ("remote.origin.promisor", "true"),
         ("extensions.partialClone", "origin"), ("protocol.ext.allow", "always"),
         ("protocol.allow", "always"))  # fmt: skip
    name = git(folder, "rev-parse", "HEAD:lib/a.cu")
    (folder / ".git/objects" / name[:2] / name[2:]).unlink()


def submodule(folder: Path, command: str) -> None:
    """A submodule whose own configuration has a filter, and an update command."""
    inner = repository(folder / "lib/inner", {"a.cu": REDUCE})
    _set(inner, ("filter.x.clean", command), ("core.fsmonitor", str(_script(inner, "monitor", command))))
    write(inner, {".git/info/attributes": "* filter=x\n"})
    write(folder, {".gitmodules": '[submodule "i"]\n\tpath = lib/inner\n\turl = ./x\n'})
    _set(folder, ("submodule.i.url", "ext::sh"), ("submodule.recurse", "true"),
         ("diff.ignoreSubmodules", "none"), ("diff.submodule", "diff"))  # fmt: skip
    arguments = ["-c", "filter.x.clean=cat", "add", ".gitmodules", "lib/inner"]
    subprocess.run(["git", *arguments], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    git(folder, "commit", "-q", "-m", "a submodule")
    touch(inner)


def embedded_bare(folder: Path, command: str) -> None:
    """A folder of the tree that git itself would take for a repository (CVE-2022-24765, safe.bareRepository)."""
    inner = repository(folder.parent / "inner", {"a.cu": REDUCE})
    shutil.copytree(inner / ".git", folder / "lib", dirs_exist_ok=True)
    core = f"[core]\n\trepositoryformatversion = 0\n\tworktree = {folder}/lib\n"
    write(folder / "lib", {"config": f'{core}[filter "x"]\n\tclean = "{command}"\n', ".gitattributes": "* filter=x\n"})
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a folder like any other")


def other_work_tree(folder: Path, command: str) -> None:
    _set(folder, ("core.worktree", "/"), ("core.fsmonitor", str(_script(folder, "monitor", command))))


def linked_git_folder(folder: Path, command: str) -> None:
    """`.git` is a file that names a folder with a configuration of its own (CVE-2024-32002 writes such a one)."""
    (folder / ".git").rename(folder / "store")
    (folder / ".git").write_text("gitdir: store\n")
    git(folder, "config", "core.fsmonitor", f"{command}; true")
    git(folder, "config", "filter.x.clean", command)
    write(folder, {".gitattributes": "* filter=x\n"})


TRAPS: tuple[Trap, ...] = (
    filter_clean, filter_process, external_diff, diff_driver, merge_driver, monitor, hooks, hooks_elsewhere, programs,
    included_configuration, work_tree_configuration, lazy_fetch, submodule, embedded_bare, other_work_tree,
    linked_git_folder,
)  # fmt: skip

FIRES_FOR_GIT = frozenset({
    "filter_clean", "filter_process", "external_diff", "diff_driver", "monitor", "hooks", "hooks_elsewhere",
    "included_configuration", "work_tree_configuration", "lazy_fetch", "submodule", "embedded_bare",
    "linked_git_folder",
})  # fmt: skip
"""The traps that plain `git status`, `diff` and `cat-file` walk into: those that do not are for other commands."""
