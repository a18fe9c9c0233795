"""ROCm's headers from the Python package index, for machines that have no ROCm.

The wheel of TensorFlow for ROCm carries the headers that it was built with. They are a hundredth of it, and servers
send parts of a file, so only these are fetched. The wheel's own list of files is known by its hash, and it knows the
files by theirs.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import functools
import hashlib
import io
import json
import lzma
import os
import re
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.invoke import invoke

from porter.errors import Unusable
from porter.system.cache import cache_folder
from porter.system.folders import is_whole, whole
from porter.system.reading import opened


@dataclass(frozen=True)
class Published:
    """A wheel with headers of ROCm, or of a library of CUDA's."""

    project: str
    version: str
    release: str
    """Of what the headers belong to: ROCm 6.0.0, CUDA 13.0."""
    folder: str
    """Where in the wheel they are."""
    record: str
    """SHA-256 of its list of files."""
    home: str = "rocm-headers"
    """The folder, below that of all, where they go."""

    @property
    def requirement(self) -> str:
        """For pip."""
        return f"{self.project}=={self.version}"


PUBLISHED = Published(
    project="tensorflow-rocm",
    version="2.14.0.600",
    release="6.0.0",
    folder="tensorflow/include/external/local_config_rocm/rocm/rocm/include/",
    record="7074561e518edcbc79d0819f73c3cdd3fa974ebe3369c09c41ae16ed2a58a396",
)
_LEFT_OUT = frozenset({"hipfort", "hipify"})
"""Fortran modules, and clang's own headers."""
LIBRARIES = (
    *("ck", "hipblas", "hipblaslt", "hipcub", "hipfft", "hiprand", "hipsolver", "hipsparse", "hiptensor", "miopen"),
    *("rccl", "rocalution", "rocblas", "rocfft", "rocprim", "rocrand", "rocsolver", "rocsparse", "rocwmma", "thrust"),
)
"""What does not belong to the HIP that a program is linked with."""
_PLATFORM = (
    *("--only-binary=:all:", "--python-version", "3.11", "--implementation", "cp"),
    *("--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_27_x86_64"),
    *("--no-deps", "--disable-pip-version-check", "--quiet"),
)
_PIECE = 1 << 20
_LARGEST_MEMBER = 64 << 20
"""Bytes of one file of the wheel, its list included: more than any of them has."""
_BROKEN = (
    *(zipfile.BadZipFile, RuntimeError, EOFError, ValueError, OverflowError),
    *(struct.error, zlib.error, lzma.LZMAError),
)
"""What zipfile raises for archives that are none, are encrypted, or are packed in some way that it does not know."""
_SECONDS = 60
_PIP_SECONDS = 1800.0


def fetched() -> Path | None:
    """The include folder that `fetch` made, if it did; `libraries`, beside it, is without HIP itself."""
    return include_of(PUBLISHED)


def include_of(published: Published) -> Path | None:
    """Where the headers of a wheel are, if they were fetched."""
    folders = (root / published.home / published.release for root in homes())
    return next((folder / "include" for folder in folders if _is_there(folder)), None)


@functools.cache
def _is_there(folder: Path) -> bool:
    return (folder / "include").is_dir() and is_whole(folder)


def homes() -> Iterator[Path]:
    """The virtual environment, and what belongs to the user."""
    if sys.prefix != sys.base_prefix:
        yield Path(sys.prefix) / "share" / "porter"
    yield cache_folder()


def fetch(wheel: Path | None = None, published: Published = PUBLISHED) -> Path:
    """Get the headers, from a wheel that is at hand or from the index that pip is set up for; return their folder."""
    target = next(homes()) / published.home / published.release
    if (target / "include").is_dir() and is_whole(target):
        with contextlib.suppress(OSError):  # of another user's, from before such a file was written
            write_version(target)
        return target / "include"
    _is_there.cache_clear()
    ways = (functools.partial(_local, wheel),) if wheel is not None else (_parts, _downloaded)
    reasons: list[str] = []
    for way in ways:
        try:
            with whole(target) as folder:
                way(published, functools.partial(_extract, published, folder))
                write_version(folder)
            return target / "include"
        except (OSError, _Different, *_BROKEN) as error:
            reasons.append(str(error) or type(error).__name__)
    raise Unusable(f"the headers of {published.requirement} cannot be fetched: {'; '.join(dict.fromkeys(reasons))}")


_VERSION = re.compile(r"^#define (HIP_VERSION_(?:MAJOR|MINOR|PATCH|GITHASH)) +\"?(\w+)", re.MULTILINE)


def write_version(folder: Path) -> None:
    """The file by which clang knows a ROCm (`--rocm-path`, ROCM_PATH), and without which it leaves its wrappers out."""
    header, version = folder / "include/hip/hip_version.h", folder / "share/hip/version"
    if header.is_file() and not version.exists():
        known = _VERSION.findall(header.read_text("utf-8", "replace"))
        version.parent.mkdir(parents=True, exist_ok=True)
        version.write_text("".join(f"{name}={value}\n" for name, value in known), "utf-8")


class _Different(Exception):
    """Not the wheel that is known, or not as it was published."""


_Extract = Callable[[zipfile.ZipFile], None]


def _local(wheel: Path, published: Published, extract: _Extract) -> None:
    del published
    with os.fdopen(opened(wheel), "rb") as file, zipfile.ZipFile(file) as archive:
        extract(archive)


def _parts(published: Published, extract: _Extract) -> None:
    """Only what is needed of the file, where the server can do that."""
    import urllib.request

    url = _url(published)
    if url.startswith("file:"):
        _local(Path(urllib.request.url2pathname(url.removeprefix("file:"))), published, extract)
        return
    with io.BufferedReader(_Remote(url), _PIECE) as file, zipfile.ZipFile(file) as archive:
        extract(archive)


def _downloaded(published: Published, extract: _Extract) -> None:
    """All of the wheel, by pip, which knows proxies and passwords."""
    with tempfile.TemporaryDirectory() as folder:
        _pip("download", "--dest", folder, published.requirement)
        (wheel,) = Path(folder).iterdir()
        _local(wheel, published, extract)


def _url(published: Published) -> str:
    """Where the index that pip is set up for has the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--dry-run", "--ignore-installed", "--report", "-", "--target", folder)
        report = json.loads(_pip("install", *options, published.requirement))
    return str(report["install"][0]["download_info"]["url"])


def _pip(verb: str, *options: str) -> str:
    done = invoke((sys.executable, "-m", "pip", verb, *_PLATFORM, *options), _PIP_SECONDS)
    if "No module named pip" in done.output:
        raise OSError("this environment has no pip; --wheel takes a wheel that was fetched otherwise")
    if not done.ok:
        lines = done.said.strip().splitlines()
        raise OSError(f"pip {verb}: {lines[-1] if lines else f'exit status {done.code}'}")
    return done.output[done.output.find("{") :]


class _Remote(io.RawIOBase):
    """A file on a server that sends parts of it."""

    def __init__(self, url: str) -> None:
        import urllib.request

        super().__init__()
        self._url, self._at = url, 0
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=_SECONDS) as answer:
            self._size = int(answer.headers["content-length"])

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed has Buffer
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        import urllib.request

        wanted = urllib.request.Request(self._url, headers={"Range": f"bytes={self._at}-{end - 1}"})
        with urllib.request.urlopen(wanted, timeout=_SECONDS) as answer:
            if answer.status != 206:
                raise OSError(f"{self._url}: the server sends no parts of a file")
            data = answer.read(end - self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _extract(published: Published, folder: Path, archive: zipfile.ZipFile) -> None:
    """Write the headers, each as it was published."""
    hashes = _hashes(published, archive)
    members = {info.filename: info for info in archive.infolist() if info.filename in hashes}
    wanted = [info for name, info in members.items() if _is_wanted(published, name)]
    for info in sorted(wanted, key=lambda info: info.header_offset):
        data = _content(archive, info)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        if hashes.get(info.filename) != f"sha256={digest}":
            raise _Different(f"{info.filename} is not as it was published")
        path = folder / "include" / info.filename[len(published.folder) :]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "libraries").mkdir()
    for name in LIBRARIES:
        if (folder / "include" / name).is_dir():
            (folder / "libraries" / name).symlink_to(Path("..", "include", name))


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A file of the wheel, whatever size the wheel claims."""
    with archive.open(info) as file:
        data = file.read(_LARGEST_MEMBER + 1)
    if len(data) > _LARGEST_MEMBER:
        raise _Different(f"{info.filename}: more than {_LARGEST_MEMBER >> 20} MiB")
    return data


def _hashes(published: Published, archive: zipfile.ZipFile) -> dict[str, str]:
    """By the wheel's own list."""
    name = f"{published.project.replace('-', '_')}-{published.version}.dist-info/RECORD"
    try:
        data = _content(archive, archive.getinfo(name))
    except KeyError:
        raise _Different(f"this is not the wheel of {published.requirement}") from None
    if hashlib.sha256(data).hexdigest() != published.record:
        raise _Different(f"the wheel of {published.requirement} is not the one that is known")
    return {row[0]: row[1] for row in csv.reader(data.decode().splitlines()) if len(row) > 1}


def _is_wanted(published: Published, name: str) -> bool:
    if not name.startswith(published.folder) or name.endswith("/"):
        return False
    return name[len(published.folder) :].partition("/")[0] not in _LEFT_OUT
