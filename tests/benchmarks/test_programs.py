"""Which programs are drawn."""

from __future__ import annotations

from pathlib import Path

from benchmarks.programs import draw


def _tree(root: Path) -> Path:
    for number in range(12):
        folder = root / f"p{number:02}-cuda"
        folder.mkdir()
        (folder / "Makefile").write_text("LDFLAGS = -lcublas\n" if number in (0, 1) else "\n")
        (folder / "main.cu").write_text("" if number in (2, 3) else 'printf("PASS");\n')
    return root


def test_halves_have_no_program_in_common(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    development, judging = (draw(tree, which, 0, 1) for which in ("development", "judging"))
    assert development == [f"p{number:02}" for number in range(0, 12, 2)]
    assert judging == [f"p{number:02}" for number in range(1, 12, 2)]


def test_plain_ones_are_the_first_of_the_same_order(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    order = draw(tree, "judging", 6, 5)
    kept = [name for name in order if name not in ("p01", "p03")]  # a library; no verdict
    assert draw(tree, "judging", 0, 5, plain=True) == kept
    assert draw(tree, "judging", 3, 5, plain=True) == kept[:3]
