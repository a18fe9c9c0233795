"""Headers out of a distribution's packages: an apt of its own, what it lacks from the wheel, the newest are used."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from porter.validation.toolchain import debian_headers, headers, rocm_headers
from porter.validation.toolchain.debian_headers import PACKAGES, fetch_newer, newest

from porter.errors import Unusable

APT = """#!/bin/sh
case $1 in
update) grep -q " $SUITE_KNOWN main" "$(dirname "$APT_CONFIG")/sources.list" && exit 0
        echo "E: The repository has no Release file."; exit 100 ;;
show) echo "Package: x"; echo "Version: 6.4.3-5"; echo "Depends: libc6-dev, libhipx-common-dev (>= 6), librocx1" ;;
download) cp "$DEBS"/*.deb .; echo "$@" > "$DEBS/asked" ;;
esac
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the headers go; apt is a script that knows one suite."""
    if not Path("/usr/bin/dpkg-deb").exists():
        pytest.skip("no dpkg-deb")
    tools, etc, debs = tmp_path / "tools", tmp_path / "etc", tmp_path / "debs"
    for folder in (tools, etc, debs):
        folder.mkdir()
    for name in ("apt-get", "apt-cache"):
        (tools / name).write_text(APT)
        (tools / name).chmod(0o755)
    (etc / "a.list").write_text("# deb-src\ndeb [arch=amd64] https://packages.example.org/tools stable main\n")
    (etc / "b.sources").write_text("Types: deb\nURIs: http://archive.example.org/debian\nSuites: old\n")
    _deb(debs, "hip", {"hip/hip_runtime.h": "#pragma once\n", "hip/hip_fp8.h": "\n", "hipcub/hipcub.hpp": "// new\n"})
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("SUITE_KNOWN", "sid")
    monkeypatch.setenv("DEBS", str(debs))
    monkeypatch.setattr(debian_headers, "_SOURCES", etc)
    place = tmp_path / "home"
    for module in (debian_headers, rocm_headers):
        monkeypatch.setattr(module, "homes", lambda: iter([place]))
    monkeypatch.delenv(headers.GIVEN, raising=False)
    return place


def _deb(folder: Path, name: str, files: Mapping[str, str]) -> None:
    root = folder / name
    for path, text in {f"usr/include/{path}": text for path, text in files.items()}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(
        f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: n <n@example.org>\nDescription: d\n"
    )
    subprocess.run(("dpkg-deb", "-b", str(root), str(folder / f"{name}.deb")), check=True, capture_output=True)


def _older(home: Path) -> Path:
    """What the wheel's headers look like."""
    include = home / "rocm-headers" / rocm_headers.PUBLISHED.release / "include"
    for name in ("hip/hip_runtime.h", "hipcub/hipcub.hpp", "rocwmma/rocwmma.hpp"):
        (include / name).parent.mkdir(parents=True, exist_ok=True)
        (include / name).write_text("// old\n")
    return include


def test_the_newest_are_used(home: Path) -> None:
    older = _older(home)
    assert newest() == older
    include = fetch_newer()
    assert include == home / "rocm-headers" / "6.4.3" / "include" == newest() == headers.find_headers()
    assert (include / "hipcub" / "hipcub.hpp").read_text() == "// new\n"
    assert (include / "rocwmma" / "rocwmma.hpp").read_text() == "// old\n"
    assert (include.with_name("libraries") / "hipcub" / "hipcub.hpp").read_text() == "// new\n"


def test_alone(home: Path) -> None:
    assert newest() is None
    include = fetch_newer()
    assert newest() == include
    assert not (include / "rocwmma").exists()


def test_a_damaged_folder_is_not_used_and_is_made_again(home: Path) -> None:
    include = fetch_newer()
    (include / "hip" / "hip_fp8.h").unlink()
    debian_headers._is_kept.cache_clear()
    assert newest() is None
    fetch_newer()
    assert newest() == include
    assert (include / "hip" / "hip_fp8.h").is_file()


def test_versions_are_numbers(home: Path) -> None:
    for release in ("6.4.3", "6.10.0", "6.9"):
        include = home / "rocm-headers" / release / "include" / "hip"
        include.mkdir(parents=True)
        (include / "hip_runtime.h").touch()
    found = newest()
    assert found is not None
    assert found.parent.name == "6.10.0"


def test_headers_that_a_package_needs_come_with_it(home: Path, tmp_path: Path) -> None:
    """hipBLAS's own include those of another package, from ROCm 6.4 on."""
    fetch_newer()
    asked = (tmp_path / "debs" / "asked").read_text().split()
    assert asked == ["download", *(f"{name}/sid" for name in (*PACKAGES, "libhipx-common-dev"))]


@pytest.mark.parametrize("suite", ["none", "../sid", "sid main\ndeb http://x y"])
def test_a_suite_that_there_is_not(home: Path, suite: str) -> None:
    with pytest.raises(Unusable, match=r"no Release file|give the name of a suite"):
        fetch_newer(suite)
    assert newest() is None


def test_no_apt(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Unusable, match="apt-get: No such file"):
        fetch_newer()


def test_no_archive_of_a_distribution(home: Path, tmp_path: Path) -> None:
    (tmp_path / "etc" / "b.sources").unlink()
    with pytest.raises(Unusable, match="no archive of Debian or Ubuntu"):
        fetch_newer()


def test_packages_are_named_once() -> None:
    assert len(set(PACKAGES)) == len(PACKAGES)
