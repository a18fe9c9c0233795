"""Newer headers of HIP and of ROCm's libraries out of a distribution's packages, where this machine's are old.

`apt-get` fetches them, with lists of its own for the one suite: nothing is installed, and what the machine's apt knows
stays as it is. Who signed the packages is checked as for any other.
"""

from __future__ import annotations

import contextlib
import functools
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.invoke import first_line, invoke
from porter.validation.toolchain.rocm_headers import LIBRARIES, fetched, homes, write_version

from porter.errors import Unusable
from porter.system.folders import is_whole, whole

SUITE = "sid"
PACKAGES = (
    *("libamdhip64-dev", "libhipblas-dev", "libhipcub-dev", "libhipfft-dev", "libhiprand-dev", "libhipsolver-dev"),
    *("libhipsparse-dev", "librocblas-dev", "librocfft-dev", "librocprim-dev", "librocrand-dev", "librocsolver-dev"),
    *("librocsparse-dev", "librocthrust-dev"),
)
"""Those whose versions go together; the libraries that are not among them stay those of the wheel."""
_SOURCES = Path("/etc/apt")
_KEYRINGS = Path("/usr/share/keyrings")
_URI = re.compile(r"^(?:URIs:\s*|deb\s+(?:\[[^]]*\]\s*)?)(\S+/(debian|ubuntu)/?)(?=\s|$)", re.MULTILINE)
_CANDIDATE = re.compile(r"^Version: (?:\d+:)?(\d+(?:\.\d+)+)", re.MULTILINE)
_DEPENDS = re.compile(r"^Depends: (.*)", re.MULTILINE)
_HEADERS = re.compile(r"\blib(?:hip|roc)[a-z0-9-]*-dev\b")
_SECONDS = 600.0


@dataclass(frozen=True)
class _Apt:
    """An apt with a folder of its own."""

    folder: Path
    suite: str

    def run(self, program: str, *words: str) -> str:
        """What it says; Unusable with the reason where it fails."""
        where = {"APT_CONFIG": str(self.folder / "apt.conf")}
        done = invoke((program, *words), _SECONDS, self.folder / "packages", where)
        if done.code is None:
            raise Unusable(f"{done.stopped}; --suite takes packages of Debian or Ubuntu, --rocm-headers any folder")
        if not done.ok:
            raise Unusable(f"{program} {words[0]}: {_reason(done.said) or f'exit status {done.code}'}")
        return done.output


def fetch_newer(suite: str = SUITE) -> Path:
    """Get the headers of a suite; return their include folder. The wheel's, fetched before, give what it lacks."""
    if not re.fullmatch(r"[a-z][a-z0-9-]*", suite):
        raise Unusable(f"--suite {suite}: give the name of a suite, such as {SUITE}")
    with tempfile.TemporaryDirectory(prefix="porter-apt-") as temporary:
        apt = _set_up(Path(temporary), suite)
        apt.run("apt-get", "update", "--error-on=any")
        release = _release(apt)
        target = next(homes()) / "rocm-headers" / release
        if not ((target / "include").is_dir() and is_whole(target)):
            apt.run("apt-get", "download", *(f"{name}/{suite}" for name in _with_theirs(apt)))
            _is_kept.cache_clear()
            with whole(target) as folder:
                _unpack(apt, folder)
        with contextlib.suppress(OSError):
            write_version(target)
    return target / "include"


def newest() -> Path | None:
    """The include folder of the newest headers that were fetched, by whichever way."""
    found = [(_number(folder.name), folder) for folder in _releases() if _is_kept(folder)]
    return max(found)[1] / "include" if found else None


@functools.cache
def _is_kept(folder: Path) -> bool:
    return is_whole(folder)


def _releases() -> Iterator[Path]:
    for home in homes():
        for folder in sorted((home / "rocm-headers").glob("[0-9]*")):
            if re.fullmatch(r"[\d.]+", folder.name) and (folder / "include" / "hip" / "hip_runtime.h").is_file():
                yield folder


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part)


def _set_up(folder: Path, suite: str) -> _Apt:
    """A configuration that knows one suite of the archive that this machine gets its packages from."""
    uri, distribution = _archive(sorted(_SOURCES.rglob("*")))
    for name in ("lists/partial", "cache/archives/partial", "none", "packages"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    keyring = _KEYRINGS / f"{distribution}-archive-keyring.gpg"
    signed = f"[signed-by={keyring}] " if keyring.exists() else ""
    components = "main" if distribution == "debian" else "main universe"
    (folder / "sources.list").write_text(f"deb {signed}{uri} {suite} {components}\n")
    settings = {
        "APT::Architecture": "amd64",
        "APT::Architectures": "amd64",
        "Acquire::Languages": "none",
        "Dir::State": folder,
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": folder / "none",
        "Dir::Etc::preferencesparts": folder / "none",
    }
    (folder / "apt.conf").write_text("".join(f'{name} "{value}";\n' for name, value in settings.items()))
    return _Apt(folder, suite)


def _archive(files: Sequence[Path]) -> tuple[str, str]:
    """Where this machine's packages come from, and whose they are."""
    for path in files:
        if path.suffix in (".list", ".sources") and path.is_file():
            found = _URI.search(path.read_text("utf-8", "replace"))
            if found is not None:
                return found[1], found[2]
    raise Unusable("apt has no archive of Debian or Ubuntu here (/etc/apt): --rocm-headers takes any folder")


def _release(apt: _Apt) -> str:
    """The version of HIP in the suite, as `6.4.3`."""
    found = _CANDIDATE.search(apt.run("apt-cache", "show", "--no-all-versions", PACKAGES[0]))
    if found is None:
        raise Unusable(f"{apt.suite} has no {PACKAGES[0]}")
    return found[1]


def _with_theirs(apt: _Apt) -> tuple[str, ...]:
    """The packages, and those of ROCm's headers that they depend on in this suite."""
    said = apt.run("apt-cache", "show", "--no-all-versions", *PACKAGES)
    needed = (name for line in _DEPENDS.findall(said) for name in _HEADERS.findall(line))
    return tuple(dict.fromkeys((*PACKAGES, *needed)))


def _unpack(apt: _Apt, folder: Path) -> None:
    """The headers of all packages; libraries that none of them has are those of the wheel, where it was fetched."""
    for package in sorted((apt.folder / "packages").glob("*.deb")):
        apt.run("dpkg-deb", "-x", str(package), str(apt.folder / "unpacked"))
    shutil.copytree(apt.folder / "unpacked" / "usr" / "include", folder / "include", symlinks=True)
    (folder / "libraries").mkdir()
    older = fetched()
    for name in LIBRARIES:
        if not (folder / "include" / name).exists() and older is not None and (older / name).is_dir():
            (folder / "include" / name).symlink_to(older / name)
        if (folder / "include" / name).exists():
            (folder / "libraries" / name).symlink_to(Path("..", "include", name))


def _reason(said: str) -> str:
    """apt's first error, or the first line of what it said."""
    errors = [line.removeprefix("E: ") for line in said.splitlines() if line.startswith("E: ")]
    return errors[0] if errors else first_line(said)
