"""Crashes, interrupts and full disks in the middle of a run."""

from __future__ import annotations

import ctypes
import errno
import faulthandler
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.engine import file as engine
from porter.errors import Interrupted, Unusable
from porter.model import PortedFile
from porter.project import begun
from porter.project.manifest import NAME, read_manifest
from porter.project.plan import Work
from porter.project.port import Request, port_in_place
from porter.project.records import FileRecord
from porter.settings import Choices
from porter.source import SourceFile
from tests.system.processes import number_of_the_dead
from tests.tree.trees import KERNEL, PORTED_KERNEL, codes, listing, make_tree, port

FILES: dict[str, bytes | str] = {f"f{number}.cu": KERNEL for number in range(12)}
CMAKE = b"enable_language(CUDA)\nadd_library(own sub/one.cu two.cu)\n"
Hook = Callable[[SourceFile, engine.Context], None]


def before_each(monkeypatch: pytest.MonkeyPatch, hook: Hook) -> None:
    """Calls a hook before a file is ported; workers are forked, so they see it."""
    original = engine.port

    def port_with_hook(source: SourceFile, context: engine.Context, output: str, support_path: str = "") -> PortedFile:
        hook(source, context)
        return original(source, context, output, support_path)

    monkeypatch.setattr(engine, "port", port_with_hook)


def test_a_crash_of_the_parser_costs_one_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is done again alone without clang; all others are as always."""

    def crash(source: SourceFile, context: engine.Context) -> None:
        if source.path == "f5.cu" and context.parse is not None:
            faulthandler.disable()
            ctypes.string_at(0)

    before_each(monkeypatch, crash)
    source = make_tree(tmp_path / "src", FILES)
    answer = port(source, tmp_path / "out", jobs=2)
    assert codes(answer) == [("f5.cu", "E109")]
    found = listing(tmp_path / "out")
    assert {found[name] for name in found if name.endswith(".hip")} == {PORTED_KERNEL}
    assert len(found) == 13


def test_a_crash_without_the_parser_costs_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is copied as it is and reported, and done again the next time."""

    def crash(source: SourceFile, context: engine.Context) -> None:
        if source.path == "f5.cu":
            faulthandler.disable()
            ctypes.string_at(0)

    source = make_tree(tmp_path / "src", FILES)
    with monkeypatch.context() as patch:
        before_each(patch, crash)
        answer = port(source, tmp_path / "out", jobs=2)
    assert codes(answer) == [("f5.cu", "E110")]
    assert (tmp_path / "out" / "f5.hip").read_bytes() == KERNEL
    again = port(source, tmp_path / "out")
    assert codes(again) == []
    assert again.run.reused == 11
    assert (tmp_path / "out" / "f5.hip").read_bytes() == PORTED_KERNEL


def test_an_exception_of_ours_costs_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its traceback is kept, its bytes are copied, the rest is done."""

    def fail(source: SourceFile, context: engine.Context) -> None:
        if source.path == "f5.cu":
            raise RuntimeError("oh")

    before_each(monkeypatch, fail)
    answer = port(make_tree(tmp_path / "src", FILES), tmp_path / "out", jobs=2)
    assert codes(answer) == [("f5.cu", "E110")]
    (crash,) = answer.run.crashes
    assert "RuntimeError: oh" in crash
    assert "f5.cu" in crash
    assert (tmp_path / "out" / "f5.hip").read_bytes() == KERNEL
    assert (tmp_path / "out" / "f6.hip").read_bytes() == PORTED_KERNEL


def test_an_interrupt_keeps_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole files and a manifest of them; the same command goes on from there."""
    parent = os.getpid()

    def interrupt(source: SourceFile, context: engine.Context) -> None:
        if source.path == "f5.cu":
            os.kill(parent, signal.SIGINT)

    source = make_tree(tmp_path / "src", dict.fromkeys(FILES, KERNEL + b"//" * 60000))
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        before_each(patch, interrupt)
        with pytest.raises(Interrupted, match=r"interrupted: \d+ of 12"):
            port(source, out)
    expected = PORTED_KERNEL + b"//" * 60_000
    found = listing(out)
    assert set(found.values()) - {found[NAME]} == {expected}
    manifest = read_manifest(out)
    assert manifest is not None
    assert not manifest.complete
    assert {record.output for record in manifest.files.values()} == found.keys() - {NAME}
    answer = port(source, out)
    assert answer.run.reused == len(manifest.files) < 12
    assert len(listing(out)) == 13
    assert codes(answer) == []


@pytest.mark.parametrize("cut_short", [1, 4, 12])
def test_an_interrupt_while_a_file_is_booked_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut_short: int
) -> None:
    """However far the book-keeping of one had come: what is in the output is in the manifest."""
    source, out = make_tree(tmp_path / "src", dict.fromkeys(FILES, KERNEL)), tmp_path / "out"
    booked: list[str] = []
    add = Work.add

    def interrupted(work: Work, record: FileRecord, line: str | None = None) -> None:
        booked.append(record.path)
        if len(booked) == cut_short:
            raise KeyboardInterrupt
        add(work, record, line)

    with monkeypatch.context() as patch:
        patch.setattr(Work, "add", interrupted)
        with pytest.raises(Interrupted):
            port(source, out)
    manifest = read_manifest(out)
    assert manifest is not None and not manifest.complete
    assert {record.output for record in manifest.files.values()} == listing(out).keys() - {NAME}
    assert len(manifest.files) >= cut_short and len(port(source, out).run.records) == 12


def test_a_run_that_was_killed_at_once_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it left, if only the beginning of a manifest, is known as porter's."""
    source = make_tree(tmp_path / "src", {"deep/er/a.cu": KERNEL})
    out = tmp_path / "out"
    out.mkdir()
    (out / f".porter-tmp-{number_of_the_dead()}").write_bytes(b"{")
    assert codes(port(source, out)) == []
    once = listing(out)
    assert not any("porter-tmp" in name for name in once)
    left = out / "porter" / f".porter-tmp-{number_of_the_dead()}"
    left.parent.mkdir(exist_ok=True)
    left.write_bytes(b"#")
    manifest = json.loads((out / NAME).read_text())
    (out / NAME).write_text(json.dumps({**manifest, "complete": False}))
    port(source, out)
    assert not left.exists()
    (out / NAME).unlink()
    with pytest.raises(Unusable, match="not written by porter"):
        port(source, out)


def test_a_full_disk_is_an_error_with_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing half-written, nothing temporary, the source untouched."""
    source = make_tree(tmp_path / "src", FILES)
    original = os.write

    def full(handle: int, data: bytes) -> int:
        if Path(f"/proc/self/fd/{handle}").resolve().parent.name == "out" and b"hipMalloc" in bytes(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(handle, data)

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(Unusable, match=rf"{out}/f\d+\.hip: No space left"):
            port(source, out, jobs=2)
    assert listing(out).keys() == {NAME}
    assert listing(source) == FILES
    assert codes(port(source, out)) == []
    assert len(listing(out)) == 13


def test_a_large_file_is_copied_whole(tmp_path: Path) -> None:
    """A file too large to hold is copied in pieces."""
    blob = os.urandom(5 << 20)
    source = make_tree(tmp_path / "src", {"blob.bin": blob})
    port(source, tmp_path / "out")
    assert (tmp_path / "out" / "blob.bin").read_bytes() == blob


@pytest.mark.parametrize("after", range(1, 9))
def test_a_run_in_place_that_was_killed_is_gone_on_with(tmp_path: Path, after: int) -> None:
    """After any of its writes: build files and includes name the new files, though their sources are gone by then."""
    files: dict[str, bytes | str] = {
        "sub/one.cu": KERNEL, "two.cu": b'#include "sub/one.cu"\n' + KERNEL, "CMakeLists.txt": CMAKE, "z.mk": "x",
    }  # fmt: skip
    whole, broken = make_tree(tmp_path / "whole", files), make_tree(tmp_path / "broken", files)
    port_in_place(Request(whole, Choices(), 1, force=True))
    child = os.fork()
    if not child:
        os.setsid()
        count = iter(range(after))
        replaced = os.replace

        def counted(one: str, two: str) -> None:
            if next(count, None) is None:
                os.killpg(0, signal.SIGKILL)  # with its workers
            replaced(one, two)

        os.replace = counted  # type: ignore[assignment]
        try:
            port_in_place(Request(broken, Choices(), 1, force=True))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    port_in_place(Request(broken, Choices(), 1, force=True))
    assert listing(broken) == listing(whole)
    assert "two.hip" in whole.joinpath("CMakeLists.txt").read_text()


def test_an_interrupted_run_in_place_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same command would be refused: the work tree is not clean any more."""
    parent = os.getpid()

    def interrupt(source: SourceFile, context: engine.Context) -> None:
        if source.path == "f5.cu":
            os.kill(parent, signal.SIGINT)

    source = make_tree(tmp_path / "src", dict.fromkeys(FILES, KERNEL + b"//" * 60000))
    subprocess.run(["git", "init", "-q"], cwd=source, check=True)
    subprocess.run(["git", "add", "-A"], cwd=source, check=True)
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *name, "commit", "-q", "-m", "a"], cwd=source, check=True)
    with monkeypatch.context() as patch:
        before_each(patch, interrupt)
        with pytest.raises(Interrupted, match="the same command with --force goes on from there"):
            port_in_place(Request(source, Choices(), 1))
    with pytest.raises(Unusable, match="a port in place was interrupted here; --force goes on with it"):
        port_in_place(Request(source, Choices(), 1))
    port_in_place(Request(source, Choices(), 1, force=True))
    assert not list(source.glob("*.cu"))
    with pytest.raises(Unusable, match="not ported in place, because git has uncommitted changes"):
        port_in_place(Request(source, Choices(), 1))


def test_names_of_a_run_that_was_killed_are_believed_only_where_asked(tmp_path: Path) -> None:
    """And only such names as a port gives."""
    source = make_tree(tmp_path / "src", {"a.hip": PORTED_KERNEL, "CMakeLists.txt": CMAKE})
    names = {"a.cu": "a.hip", "two.cu": "../x.hip", "b.cu": "c/b.hip", "c.cu": "c.sh", "d": 3}
    (source / begun.NAME).write_text(json.dumps(names))
    assert begun.kept(source) == {"a.cu": "a.hip"}
    (source / begun.NAME).write_text("[" * 100_000)
    assert begun.kept(source) == {}
