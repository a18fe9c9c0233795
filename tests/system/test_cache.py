"""What is kept is believed only if it is ours and as it was left."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from porter.validation.devices.core import hostcc
from porter.validation.toolchain.store import Recipe, make, prune

from porter.check.store import Store, user_store
from porter.names import records
from porter.system import cache
from porter.system.folders import is_whole, whole


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("PORTER_CACHE_DIR", str(folder))
    return folder


def spoil(path: Path) -> None:
    """The same size, another content."""
    data = path.read_bytes()
    path.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])


def test_what_is_kept_comes_back(own_cache: Path) -> None:
    path = cache.kept_folder("things") / "a.bin"
    assert path.parent.parent == own_cache
    assert own_cache.stat().st_mode & 0o777 == 0o700
    assert cache.kept(path) is None
    cache.keep(path, b"content of some length")
    assert cache.kept(path) == b"content of some length"


@pytest.mark.parametrize("damage", ["spoiled", "truncated", "other", "writable", "no sum", "link"])
def test_what_was_damaged_does_not(tmp_path: Path, damage: str) -> None:
    path = cache.kept_folder("things") / "a.bin"
    cache.keep(path, b"content of some length")
    if damage == "spoiled":
        spoil(path)
    elif damage == "truncated":
        path.write_bytes(b"content")
    elif damage == "other":
        path.write_bytes(b"")
    elif damage == "writable":
        path.chmod(0o666)
    elif damage == "no sum":
        path.with_name("a.bin.sha256").unlink()
    else:
        path.unlink()
        os.mkfifo(path)
    assert cache.kept(path) is None
    path.unlink()
    cache.keep(path, b"again")
    assert cache.kept(path) == b"again"


@pytest.mark.parametrize("which", ["root", "folder"])
def test_a_folder_that_others_can_write_to_is_not_used(own_cache: Path, which: str) -> None:
    (own_cache / "things").mkdir(parents=True)
    (own_cache if which == "root" else own_cache / "things").chmod(0o777)
    assert cache.kept_folder("things").parent == cache.temporary_root()
    assert (cache.cache_folder() == own_cache) == (which == "folder")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_used(own_cache: Path) -> None:
    own_cache.mkdir()
    os.chown(own_cache, 65534, 65534)
    assert cache.cache_folder() == cache.temporary_root()
    assert cache.kept_folder("things").parent == cache.temporary_root()


def test_the_same_text_is_the_same_file_and_stays_right() -> None:
    path = cache.kept_text("units", b"int x;\n", "a.cu")
    assert cache.kept_text("units", b"int x;\n", "a.cu") == path
    spoiled = b"int y;\n"
    path.write_bytes(spoiled)
    assert cache.kept_text("units", b"int x;\n", "a.cu").read_bytes() == b"int x;\n"


def test_a_full_disk_leaves_nothing_and_takes_no_other_place(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = cache.kept_folder("things") / "a.bin"

    def full(descriptor: int, mode: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fchmod", full)
        with pytest.raises(OSError, match="No space"):
            cache.keep(path, b"content")
    assert not list(path.parent.iterdir())
    assert cache.kept(path) is None


def test_damaged_tables_are_read_anew(own_cache: Path) -> None:
    sound = records.load_records()
    (kept,) = (own_cache / "names").glob("*.bin")
    spoil(kept)
    assert records.load_records() == sound
    assert cache.kept(kept) is not None
    kept.chmod(0o666)
    assert records.load_records() == sound


def test_a_damaged_library_is_built_again(own_cache: Path) -> None:
    compiler = hostcc.find_host_compiler()
    if compiler is None:
        pytest.skip("no host compiler")
    made = hostcc.build(compiler, "int f(void) { return 7; }\n")
    assert isinstance(made, Path)
    first = made.read_bytes()
    for damage in (first[:-1], b"", b"\x7fELF" + bytes(100)):
        made.write_bytes(damage)
        assert hostcc.build(compiler, "int f(void) { return 7; }\n") == made
        assert cache.kept(made) is not None
        assert len(made.read_bytes()) == len(first)


def test_a_damaged_product_is_made_again(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("in\n")
    recipe = Recipe(
        "cp", lambda folder: ("cp", str(source), str(folder / "out.o")), (source,), ("*.o",), None, {}, False
    )
    first = make(recipe)
    assert make(recipe).reused
    product = first.product("*.o")
    assert product is not None
    for damage in (b"on\n", b"", None):
        path = make(recipe).product("*.o")
        assert path is not None
        path.unlink() if damage is None else path.write_bytes(damage)
        again = make(recipe)
        assert not again.reused
        assert again.product("*.o") is not None
        assert again.product("*.o").read_text() == "in\n"  # type: ignore[union-attr]
        assert make(recipe).reused


def test_a_damaged_store_is_forgotten() -> None:
    store = user_store()
    store.put({f"key{n}": "value" * 50 + "\ud800" for n in range(400)})
    store.save()
    assert len(store.get(["key1", "key2", "none"])) == 2
    path = store._path
    assert path is not None
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE known SET value = zeroblob(60) WHERE key = 'key1'")
    assert set(Store(path).get(["key1", "key2"])) == {"key2"}
    data = bytearray(path.read_bytes())
    data[2000:30000] = b"x" * 28000
    path.write_bytes(bytes(data))
    assert Store(path).get([f"key{n}" for n in range(400)]) is not None
    again = Store(path)
    again.put({"a": "b"})
    again.save()
    again = Store(path)
    again.put({"a": "b"})
    again.save()
    assert Store(path).get(["a"]) == {"a": "b"}


def test_a_folder_is_whole_or_made_again(tmp_path: Path) -> None:
    target = tmp_path / "shelf" / "headers"

    def fill() -> None:
        with whole(target) as folder:
            (folder / "deep").mkdir()
            (folder / "deep" / "a.h").write_text("int a;\n")

    fill()
    assert is_whole(target)
    (target / "deep" / "a.h").write_text("int b;\n")
    assert not is_whole(target)
    fill()
    assert is_whole(target)
    (target / "deep" / "a.h").unlink()
    assert not is_whole(target)
    fill()
    assert (target / "deep" / "a.h").read_text() == "int a;\n"
    path = target / "deep" / "a.h"
    status = path.stat()
    path.write_text("int c;\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert is_whole(target)
    assert not is_whole(target, every_byte=True)
    fill()
    assert path.read_text() == "int a;\n"
    target.chmod(0o777)
    assert not is_whole(target)


def test_no_folder_is_made_for_what_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process that is ended, and each that is forked, would leave it."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "temporary_root", lambda: pytest.fail("a folder for what cannot be kept"))
    assert cache.kept_folder("things") == tmp_path / "cache" / "things"


def test_links_of_a_kept_folder_count(tmp_path: Path) -> None:
    target = tmp_path / "shelf" / "tools"
    with whole(target) as folder:
        (folder / "tool").symlink_to("/bin/true")
    assert is_whole(target)
    (target / "tool").unlink()
    (target / "tool").symlink_to("/bin/false")
    assert not is_whole(target)


def _kept_file() -> None:
    path = cache.kept_folder("host") / "library.so"
    if cache.kept(path) is None:
        cache.keep(path, b"code")


def _kept_text() -> None:
    cache.kept_text("assembly", b"text", "unit.s")


def _whole_folder() -> None:
    target = cache.kept_folder("torch-headers") / "1234"
    if not is_whole(target):
        with whole(target) as made:
            (made / "a.h").write_text("int a;\n")


@pytest.mark.parametrize("use", [_kept_file, _kept_text, _whole_folder])
def test_what_is_in_use_makes_no_room_however_old_it_is(own_cache: Path, use: Callable[[], None]) -> None:
    """A build of minutes lost the headers that it had found, made hours ago, when another run made room."""
    use()
    entries = [path for path in own_cache.glob("*/*") if path.name != ".pruned"]
    for path in entries:
        os.utime(path, (1, 1))
    use()
    assert prune(0, every=0) == 0 and all(path.exists() for path in entries)
    for path in entries:
        os.utime(path, (1, 1))
    assert prune(0, every=0) == len(entries)
