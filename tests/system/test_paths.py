"""Names from manifests, case files and settings do not lead out of the tree they belong to."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases

from porter.errors import Unusable
from porter.project.manifest import NAME, read_manifest
from porter.project.port import Request, port_in_place, port_to
from porter.report.gap.inputs import as_written_by_porter, read_inputs
from porter.settings import Choices, load_choices
from porter.system.paths import is_inside, make_folders_to, named_by, place_inside, without_detours
from porter.system.reading import parsed_json, read_regular, read_toml
from tests.check.repositories import REDUCE, repository

BAD_NAMES = ("", "/", "/etc/passwd", "..", "../x", "a/../../x", "a//b", "./a", "a/.", "a\0b", None, 3)
IMPOSSIBLE_NAMES = ("x" * 300, "x/" * 2000 + "y", "a\ud800")


@pytest.mark.parametrize("name", (*BAD_NAMES, *IMPOSSIBLE_NAMES))
def test_names_that_lead_elsewhere(tmp_path: Path, name: object) -> None:
    assert not is_inside(name)
    if isinstance(name, str):
        with pytest.raises(Unusable):
            place_inside(tmp_path, name)


def test_links_on_the_way_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "tree/link").symlink_to("../other")
    (tmp_path / "tree/file").touch()
    for name in ("link/x", "link/deep/x"):
        with pytest.raises(Unusable, match="link"):
            place_inside(tmp_path / "tree", name)
        with pytest.raises(Unusable, match="link"):
            make_folders_to(tmp_path / "tree", name)
    with pytest.raises(Unusable, match="stands where"):
        make_folders_to(tmp_path / "tree", "file/x")
    assert make_folders_to(tmp_path / "tree", "a/b/c") == tmp_path / "tree/a/b/c"
    assert not list((tmp_path / "other").iterdir())


def _ported(tmp_path: Path) -> tuple[Path, Path, Path]:
    source, out, victim = tmp_path / "src", tmp_path / "out", tmp_path / "victim/f.txt"
    source.mkdir()
    victim.parent.mkdir()
    victim.write_text("mine\n")
    (source / "a.cu").write_text(REDUCE)
    port_to(Request(source, Choices(), 1), out)
    return source, out, victim


@pytest.mark.parametrize("how", ["output", "support", "absolute", "through a link"])
def test_a_manifest_deletes_nothing_elsewhere(tmp_path: Path, how: str) -> None:
    source, out, victim = _ported(tmp_path)
    digest = hashlib.sha256(victim.read_bytes()).hexdigest()
    document = json.loads((out / NAME).read_text())
    (out / "way").symlink_to(victim.parent)
    name = {"absolute": str(victim), "through a link": "way/f.txt"}.get(how, "../victim/f.txt")
    if how == "support":
        document["support"][name] = digest
    else:
        gone = {**document["files"][0], "path": "gone.cu", "output": name, "output_sha256": digest}
        document["files"].append(gone)
    (out / NAME).write_text(json.dumps(document))
    with pytest.raises(Unusable):
        port_to(Request(source, Choices(), 1), out)
    assert victim.read_text() == "mine\n"


ODD_SHAPES = [
    *[("output", 3), ("mode", "x"), ("shifts", [["a", "b"]]), ("findings", [[1]])],
    *[("kernels", [3]), ("support", "x"), ("build", [1, 2]), ("status", [])],
]


@pytest.mark.parametrize(("key", "value"), ODD_SHAPES)
def test_a_manifest_of_odd_shape_is_unusable(tmp_path: Path, key: str, value: object) -> None:
    _, out, _ = _ported(tmp_path)
    document = json.loads((out / NAME).read_text())
    document["files"][0][key] = value
    (out / NAME).write_text(json.dumps(document))
    with pytest.raises(Unusable, match="damaged"):
        read_manifest(out)


@pytest.mark.parametrize("stands", ["link", "dangling", "file", "fifo", "header"])
def test_support_headers_go_nowhere_else(tmp_path: Path, stands: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    source = repository(tmp_path / "src", {"a.cu": REDUCE})
    place = source / "porter"
    if stands == "header":
        place.mkdir()
        (place / "warp32.hpp").symlink_to(other / "x.hpp")
    elif stands == "fifo":
        os.mkfifo(place)
    elif stands == "file":
        place.touch()
    else:
        place.symlink_to(other if stands == "link" else tmp_path / "nowhere")
    before = sorted(path.name for path in source.iterdir())
    with pytest.raises(Unusable, match="rename it"):
        port_to(Request(source, Choices(), 1), tmp_path / "out")
    with pytest.raises(Unusable, match="rename it"):
        port_in_place(Request(source, Choices(), 1, force=True))
    assert sorted(path.name for path in source.iterdir()) == before
    assert not list(other.iterdir())


CASE = """schema = "porter-case/1"
source = "{source}"
{more}
[[case]]
kernel = "reduce"
grid = 1
block = 32
arguments = ["in x: float32[n]", "out y: float32[1]", "scalar n: int32 = n"]
sweep = {{ n = 32 }}
"""


@pytest.mark.parametrize(("source", "more", "said"), [
    ("a.cu", 'root = "../.."', "leads out"), ("a.cu", 'root = "/"', "leads out"), ("../../b.cu", "", "leads out"),
    ("/etc/passwd", "", "leads out"), ("a.cu", 'reference = "../../x.py:f"', "leads out"),
    ("a.cu", 'port = "away/x.hip"', "leads out"), ("a.cu", 'root = "x\\u0000y"', "no path"),
])  # fmt: skip
def test_a_case_file_stays_in_its_tree(tmp_path: Path, source: str, more: str, said: str) -> None:
    tree = repository(tmp_path / "tree", {"inner/a.cu": REDUCE})
    (tree / "inner/away").symlink_to(tmp_path)
    for name in ("b.cu", "x.py", "x.hip"):
        (tmp_path / name).touch()
    path = tree / "inner/k.case.toml"
    path.write_text(CASE.format(source=source, more=more))
    with pytest.raises(CaseError, match=said):
        load_cases(path)


def test_without_git_a_case_file_names_a_project_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home/me"))
    file = tmp_path / "home/me/code/k/k.case.toml"
    file.parent.mkdir(parents=True)
    assert named_by(file, "..").samefile(tmp_path / "home/me/code")
    for name in ("../..", "../../..", "/", "../../../../../../../../.."):
        with pytest.raises(Unusable, match="more than a project"):
            named_by(file, name)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name in ("pipe", "link", ".", "none"):
        with pytest.raises(OSError):
            read_regular(tmp_path / name)
    (tmp_path / "large").write_bytes(bytes(100))
    with pytest.raises(OSError, match="more than"):
        read_regular(tmp_path / "large", 99)
    assert read_regular(tmp_path / "large", 100) == bytes(100)


def test_a_report_is_a_regular_file_with_names_that_can_be() -> None:
    for name in ("/dev/zero", "/", "/none"):
        with pytest.raises(Unusable):
            read_inputs([Path(name)], Path())
    with pytest.raises(Unusable, match="a name of a file"), as_written_by_porter([Path("a.json")]):
        Path("x" * 5000).stat()
    with pytest.raises(FileNotFoundError), as_written_by_porter([Path("a.json")]):
        Path("/none/at/all").stat()


def test_documents_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "porter.toml"
    for text in (b"a = " + b"[" * 100_000, b"\xff", b"a = 1" + b"0" * 5000, b"a", b"[tool]\nx=1\n[tool]\n"):
        path.write_bytes(text)
        with pytest.raises(Unusable):
            read_toml(path)
    for text in (b"[" * 100_000, b"\xff", b'{"a":' * 90_000, b""):
        with pytest.raises(ValueError):
            parsed_json(text)
    (tmp_path / "pyproject.toml").write_text("# [tool.porter\ntool = 3\n")
    path.unlink()
    with pytest.raises(Unusable):
        load_choices(tmp_path)


def test_a_draft_for_stdout(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(REDUCE)
    command = [sys.executable, "-m", "porter", "cases", "init", "a.cu", "-o", "-"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "[[case]]" in done.stdout, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.cu"]


def test_detours_are_left_out_where_they_lead_to_the_same_place(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "k.cu").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    assert without_detours(tmp_path / "a" / ".." / "k.cu") == tmp_path / "k.cu"
    through = tmp_path / "link" / ".." / "b"  # of a, where the link leads; the text alone says tmp_path / "b"
    assert without_detours(through) == through and through.is_dir()
    assert without_detours(tmp_path / "none" / ".." / "gone") == tmp_path / "none" / ".." / "gone"
