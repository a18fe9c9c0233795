"""Headers out of a wheel: parts of it from a server, or all of it from pip or a file; nothing that differs is taken."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.server
import os
import random
import shutil
import threading
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from porter.validation.toolchain import headers, rocm_headers
from porter.validation.toolchain.rocm_headers import LIBRARIES, PUBLISHED, Published, fetch, fetched

from porter.errors import Unusable
from porter.system.folders import whole

FOLDER = "wide/rocm/include/"
FILES = {
    f"{FOLDER}hip/hip_runtime.h": b"#pragma once\n",
    f"{FOLDER}hipcub/hipcub.hpp": b"#include <rocprim/rocprim.hpp>\n",
    f"{FOLDER}rocprim/block/a.hpp": b"\n" * 2000,
    f"{FOLDER}hipfort/x.mod": b"Fortran",
    "wide/library.so": bytes(range(256)) * 40_000,
    "wide_rocm-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: wide-rocm\nVersion: 1.0\n",
    "wide_rocm-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-x\n",
}
NAME = "wide_rocm-1.0-cp311-cp311-manylinux2014_x86_64.whl"


def _row(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(data)}\n"


def _wheel(folder: Path, **changed: bytes) -> tuple[Path, Published]:
    """A wheel that a list of files describes, and what is known of it; `changed` is what the list does not know."""
    record = "".join(_row(name, data) for name, data in FILES.items()) + "wide_rocm-1.0.dist-info/RECORD,,\n"
    path = folder / NAME
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in FILES.items():
            archive.writestr(name, changed.get(Path(name).stem, data))
        archive.writestr("wide_rocm-1.0.dist-info/RECORD", record)
    return path, Published("wide-rocm", "1.0", "9.9.9", FOLDER, hashlib.sha256(record.encode()).hexdigest())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the headers go."""
    folder = tmp_path / "home"
    monkeypatch.setattr(rocm_headers, "homes", lambda: iter([folder]))
    return folder


class _Index(http.server.BaseHTTPRequestHandler):
    """A package index with one wheel; counts the bytes that it sends of it."""

    wheel = b""
    sends_parts = True
    sent = 0

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        is_wheel = self.path.endswith(".whl")
        data = type(self).wheel if is_wheel else f'<!DOCTYPE html><a href="/{NAME}">{NAME}</a>'.encode()
        part = self.headers.get("Range", "") if is_wheel and type(self).sends_parts else ""
        if part:
            first, _, last = part.removeprefix("bytes=").partition("-")
            data = data[int(first) : int(last) + 1] if first else data[-int(last) :]
        self.send_response(206 if part else 200)
        self.send_header("Content-Type", "application/octet-stream" if is_wheel else "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)
            type(self).sent += len(data) * is_wheel

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Index]]:
    """An index that pip is set up for."""
    _Index.wheel, _Index.sends_parts, _Index.sent = _wheel(tmp_path)[0].read_bytes(), True, 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name, value in (
        *(("PIP_CONFIG_FILE", "/dev/null"), ("PIP_EXTRA_INDEX_URL", ""), ("PIP_FIND_LINKS", ""), ("no_proxy", "*")),
        *(("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple"), ("PIP_NO_CACHE_DIR", "1")),
    ):
        monkeypatch.setenv(name, value)
    yield _Index
    server.shutdown()
    server.server_close()


def _names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


WANTED = ["hip/hip_runtime.h", "hipcub/hipcub.hpp", "rocprim/block/a.hpp"]


def test_from_a_file(tmp_path: Path, home: Path) -> None:
    wheel, published = _wheel(tmp_path)
    folder = fetch(wheel, published)
    assert _names(folder) == WANTED
    assert sorted(path.name for path in (folder.parent / "libraries").iterdir()) == ["hipcub", "rocprim"]
    assert (folder.parent / "libraries/hipcub/hipcub.hpp").read_bytes() == FILES[f"{FOLDER}hipcub/hipcub.hpp"]
    wheel.unlink()
    assert fetch(wheel, published) == folder, "once is enough"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"hipcub": b"#error planted\n"}, "hipcub.hpp is not as it was published"),
        ({"hip_runtime": b""}, "hip_runtime.h is not as it was published"),
    ],
)
def test_a_changed_file_is_refused(changed: dict[str, bytes], reason: str, tmp_path: Path, home: Path) -> None:
    wheel, published = _wheel(tmp_path, **changed)
    with pytest.raises(Unusable, match=reason):
        fetch(wheel, published)
    assert not list(home.rglob("*.h*")), "all or nothing"


def test_another_wheel_is_refused(tmp_path: Path, home: Path) -> None:
    wheel, published = _wheel(tmp_path)
    with pytest.raises(Unusable, match="not the one that is known"):
        fetch(wheel, Published("wide-rocm", "1.0", "9.9.9", FOLDER, "0" * 64))
    with pytest.raises(Unusable, match="not the wheel of tensorflow-rocm"):
        fetch(wheel)
    (tmp_path / "text.whl").write_text("no archive")
    with pytest.raises(Unusable, match="not a zip file"):
        fetch(tmp_path / "text.whl", published)
    with pytest.raises(Unusable, match="No such file"):
        fetch(tmp_path / "none.whl", published)


@pytest.mark.slow
def test_only_parts_are_fetched(
    tmp_path: Path, home: Path, index: type[_Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, published = _wheel(tmp_path)
    url = rocm_headers._url(published)
    index.sent = 0
    monkeypatch.setattr(rocm_headers, "_url", lambda _: url)
    monkeypatch.setattr(rocm_headers, "_PIECE", 1 << 16)
    assert _names(fetch(None, published)) == WANTED
    assert index.sent < len(index.wheel) // 20


@pytest.mark.slow
def test_a_server_without_parts_is_no_obstacle(tmp_path: Path, home: Path, index: type[_Index]) -> None:
    index.sends_parts = False
    assert _names(fetch(None, _wheel(tmp_path)[1])) == WANTED


@pytest.mark.slow
def test_an_index_without_the_wheel_is_said(tmp_path: Path, home: Path, index: type[_Index]) -> None:
    with pytest.raises(Unusable, match=r"pip .*No matching distribution found for wide-rocm==2.0"):
        fetch(None, Published("wide-rocm", "2.0", "9.9.9", FOLDER, "0" * 64))


def test_a_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"

    def interrupted() -> None:
        with whole(target) as folder:
            (folder / "x").write_text("1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(target.parent.iterdir()) == []
    for text in ("first", "second"):
        with whole(target) as folder:
            (folder / "x").write_text(text)
    assert (target / "x").read_text() == "first"
    assert list(target.parent.iterdir()) == [target]


def test_an_installed_rocm_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, got = tmp_path / "rocm", tmp_path / "got" / "include"
    for folder in (own / "include", got):
        (folder / "hip").mkdir(parents=True)
        (folder / "hip/hip_runtime.h").touch()
    for name in ("newest", "fetched"):
        monkeypatch.setattr(headers, name, lambda: got)
    monkeypatch.setenv("HIP_PATH", str(tmp_path / "nowhere"))
    monkeypatch.setenv("ROCM_PATH", str(own))
    assert headers.find_headers() == own / "include"
    if not Path("/opt/rocm/include/hip").exists():
        monkeypatch.delenv("ROCM_PATH")
        assert headers.find_headers() == got
        assert headers.library_options("/usr/bin/hipcc") == ("-isystem", str(got.with_name("libraries")))
    assert headers.library_options("/opt/rocm-7.0/bin/hipcc") == (), "a ROCm has its own"


def test_what_was_fetched_has_the_libraries() -> None:
    folder = fetched()
    if folder is None:
        pytest.skip("`porter headers` was not run here")
    assert [name for name in LIBRARIES if not (folder / name).is_dir()] == []
    text = (folder / "hip/hip_version.h").read_text()
    major, minor, _ = PUBLISHED.release.split(".")
    assert f"HIP_VERSION_MAJOR {major}\n" in text
    assert f"HIP_VERSION_MINOR {minor}\n" in text


HIP_VERSION = b"""
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 0
#define HIP_VERSION_PATCH 32830
#define HIP_VERSION_GITHASH "d62f6a171"
#define HIP_VERSION_BUILD_ID 0
#define HIP_VERSION    (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)
"""


def test_clang_knows_the_folder_by_its_version(tmp_path: Path) -> None:
    """Four lines, once; a folder without HIP's headers gets none."""
    rocm_headers.write_version(tmp_path)
    assert not (tmp_path / "share").exists()
    (tmp_path / "include/hip").mkdir(parents=True)
    (tmp_path / "include/hip/hip_version.h").write_bytes(HIP_VERSION)
    rocm_headers.write_version(tmp_path)
    lines = (tmp_path / "share/hip/version").read_text().splitlines()
    assert lines == [f"HIP_VERSION_{name}" for name in ("MAJOR=6", "MINOR=0", "PATCH=32830", "GITHASH=d62f6a171")]
    (tmp_path / "share/hip/version").write_text("theirs")
    rocm_headers.write_version(tmp_path)
    assert (tmp_path / "share/hip/version").read_text() == "theirs"


def _hostile(folder: Path, *members: tuple[str | zipfile.ZipInfo, bytes], how: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "hostile.whl"
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", how) as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, data in members:
            archive.writestr(name, data)
    return path


def _record(*names: str) -> bytes:
    return "".join(_row(name, FILES.get(name, b"x")) for name in names).encode()


def _link(name: str, target: str) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info, target.encode()


RECORD = "wide_rocm-1.0.dist-info/RECORD"
HEADER = f"{FOLDER}hip/hip_runtime.h"
BOMB = 80 << 20
"""Bytes, which are there when they are written."""
HOSTILE: dict[str, list[tuple[str, bytes | int]]] = {
    "a bomb for a list": [(RECORD, BOMB)],
    "a bomb for a header": [(RECORD, _record(HEADER)), (HEADER, BOMB)],
    "a list that is not the one": [(RECORD, _record(HEADER) + b"\n"), (HEADER, FILES[HEADER])],
    "a header that differs": [(RECORD, _record(HEADER)), (HEADER, b"#pragma twice\n")],
    "a header twice, the second differs": [(RECORD, _record(HEADER)), (HEADER, FILES[HEADER]), (HEADER, b"y")],
    "no list": [(HEADER, FILES[HEADER])],
}
HARMLESS = {
    "a way out": [(f"{FOLDER}../../../../out.h", b"x"), (f"{FOLDER}/tmp/porter-out.h", b"x")],
    "a link": [_link(f"{FOLDER}hip", "/tmp"), _link(f"{FOLDER}hip/more", "/etc/passwd")],
    "a header that the list does not know": [(f"{FOLDER}hip/more.h", b"x")],
    "many names": [(f"{FOLDER}x/{number}", b"") for number in range(3000)],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_wheel_is_refused_and_leaves_nothing(tmp_path: Path, home: Path, name: str) -> None:
    wheel = _hostile(tmp_path, *((member, bytes(data)) for member, data in HOSTILE[name]))
    known = hashlib.sha256(_record(HEADER) if "list" not in name else b"").hexdigest()
    with pytest.raises(Unusable, match="cannot be fetched"):
        fetch(wheel, Published("wide-rocm", "1.0", "9.9.9", FOLDER, known))
    assert not [path for path in home.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_the_list_does_not_name_is_not_written(tmp_path: Path, home: Path, name: str) -> None:
    wheel = _hostile(tmp_path, (RECORD, _record(HEADER)), *HARMLESS[name], (HEADER, FILES[HEADER]))
    folder = fetch(wheel, Published("wide-rocm", "1.0", "9.9.9", FOLDER, hashlib.sha256(_record(HEADER)).hexdigest()))
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()] == [
        "hip/hip_runtime.h"
    ]
    assert not list(tmp_path.rglob("out.h"))
    assert not Path("/tmp/porter-out.h").exists()


def test_a_wheel_that_is_no_file(tmp_path: Path, home: Path) -> None:
    """A pipe is not waited for, a folder and nothing at all are said."""
    os.mkfifo(tmp_path / "pipe")
    for wheel in (tmp_path / "pipe", tmp_path, tmp_path / "nothing", Path("/dev/zero")):
        with pytest.raises(Unusable, match="cannot be fetched"):
            fetch(wheel)
    assert not [path for path in home.rglob("*") if path.is_file()]


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_wheels_are_refused_or_right(tmp_path: Path, home: Path, how: int) -> None:
    """Any byte may be another: an archive is taken with the content that is known, or not at all."""
    sound = _hostile(tmp_path, (RECORD, _record(HEADER)), (HEADER, FILES[HEADER]), how=how).read_bytes()
    known = Published("wide-rocm", "1.0", "9.9.9", FOLDER, hashlib.sha256(_record(HEADER)).hexdigest())
    dice = random.Random(how)
    wheel = tmp_path / "damaged.whl"
    for _ in range(150):
        data = bytearray(sound)
        for _ in range(dice.choice((1, 1, 2, 5))):
            data[dice.randrange(len(data))] = dice.choice((0, 1, 8, 9, 14, 99, 255, dice.randrange(256)))
        wheel.write_bytes(data[: dice.choice((len(data), len(data), dice.randrange(len(data))))])
        with contextlib.suppress(Unusable):
            folder = fetch(wheel, known)
            for path in folder.rglob("*"):
                assert not path.is_file() or path.read_bytes() == FILES[HEADER]
        shutil.rmtree(home, ignore_errors=True)
