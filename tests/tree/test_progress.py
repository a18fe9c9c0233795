"""Lines of progress where stderr is no terminal."""

from __future__ import annotations

import pytest

from porter.project.progress import shown_progress


@pytest.mark.parametrize(("files", "lines"), [(10, 0), (44_145, 1)])
def test_what_takes_long_says_so_at_once(files: int, lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress() as progress:
        assert progress is not None
        for _ in range(3):
            progress(0, files)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == lines
    assert all(line.startswith("porting: 0 of 44,145, ") for line in said)
