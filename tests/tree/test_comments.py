"""`comments` and `[[rewrite]]` over a tree: from the settings to the files, and back."""

from __future__ import annotations

from pathlib import Path

from porter.model import Effort, Rewrite, Settings
from porter.project.commented import commented_files, strip
from tests.tree.trees import KERNEL, listing, make_tree, port

FILES = {
    "a.cu": b'__global__ void k() {\n  asm volatile("bar.warp.sync 1; wgmma.fence;");\n}\n' + KERNEL,
    "setup.py": "from torch.utils import cpp_extension\nimport subprocess\n"
    "def f():\n    return subprocess.check_output(['nvcc', '-V'])\n",
}
WITH = Settings(comments=True)


def test_comments_come_once_and_go_without_a_trace(tmp_path: Path) -> None:
    """The port with comments is the port and comments; porting it again adds none."""
    source = make_tree(tmp_path / "src", FILES)
    port(source, tmp_path / "plain")
    answer = port(source, tmp_path / "out", engine=WITH)
    found = [(file.name, one.code) for file, own in commented_files(tmp_path / "out") for one in own]
    wanted = {(f.path, f.entry.code) for f in answer.report.findings if f.entry.effort != "none"}
    assert {(name.replace(".hip", ".cu"), code) for name, code in found} == wanted
    assert ("setup.py", "K202") in found
    port(tmp_path / "out", tmp_path / "again", engine=WITH)
    without = {"porter-manifest.json"}
    first, again = listing(tmp_path / "out"), listing(tmp_path / "again")
    assert {n: t for n, t in first.items() if n not in without} == {n: t for n, t in again.items() if n not in without}
    for file, _ in list(commented_files(tmp_path / "out")):
        strip(file, frozenset())
    plain = listing(tmp_path / "plain")
    assert {n: t for n, t in listing(tmp_path / "out").items() if n not in without} == {
        n: t for n, t in plain.items() if n not in without
    }
    assert not [f for f in port(source, tmp_path / "out").report.findings if f.entry.code == "E106"]


def test_a_rewrite_comes_before_the_rules(tmp_path: Path) -> None:
    """They port what came out of it, and report nothing of what went."""
    rewrite = Rewrite("cudaNobodyKnows($p, $n)", "cudaMalloc(&$p, $n)", Effort.REVIEW, "was ours")
    source = make_tree(
        tmp_path / "src", {"a.cu": "void f() {\n  cudaNobodyKnows(p, 4);\n}\n", "b.h": "cudaNobodyKnows(q, 1);"}
    )
    answer = port(source, tmp_path / "out", engine=Settings(rewrites=(rewrite,)))
    assert "hipMalloc(&p, 4)" in (tmp_path / "out" / "a.hip").read_text()
    assert "hipMalloc(&q, 1)" in (tmp_path / "out" / "b.h").read_text()
    left = [(f.path, f.entry.line, f.entry.code) for f in answer.report.findings if f.entry.effort != "none"]
    assert left == [("a.cu", 2, "A019"), ("b.h", 1, "A019")]


def test_lines_that_changed_are_counted(tmp_path: Path) -> None:
    """Per file: lines of the source that the port has otherwise, those it has besides, and the share that is done."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.h": "int x;\n"})
    answer = port(source, tmp_path / "out")
    first, second = answer.report.files
    assert first.record.touched == (3, 0)
    assert (first.converted, second.converted) == (1.0, None)
    assert second.record.touched == (0, 0)
    assert port(source, tmp_path / "out").report.files[0].record.touched == (3, 0)
