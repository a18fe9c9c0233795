"""Small projects of several files that a 32-lane habit breaks, and near misses, by someone who had read no rule."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
HEADER = FOLDER / "dev.h"
_CASE = "//@ "
_FILE = "//= "


@dataclass(frozen=True)
class Project:
    """One project, with what was expected of its port before anything ran."""

    round: str
    name: str
    expected: str
    """kept: wrong on 64 lanes unless something is done; told: nothing sound can be done; right: a near miss."""
    codes: tuple[str, ...]
    """Findings that leave work."""
    about: str
    files: dict[str, str]


def projects() -> tuple[Project, ...]:
    """All of them, by round."""
    return tuple(one for file in sorted(FOLDER.glob("*.txt")) for one in _read(file))


def _read(file: Path) -> list[Project]:
    found = []
    for part in file.read_text(encoding="utf-8").split(_CASE)[1:]:
        head, _, body = part.partition("\n")
        name, expected, codes, about = head.split(" ", 3)
        listed = () if codes == "-" else tuple(codes.split(","))
        sections = (section.partition("\n") for section in body.split(_FILE)[1:])
        files = {path.strip(): text.strip() + "\n" for path, _, text in sections}
        found.append(Project(file.stem, name, expected, listed, about, files))
    return found


def write(folder: Path, chosen: tuple[Project, ...]) -> None:
    """A project for `porter run --compare --source FOLDER`."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = []
    for one in chosen:
        (folder / one.name).mkdir()
        (folder / one.name / HEADER.name).write_bytes(HEADER.read_bytes())
        for path, text in one.files.items():
            (folder / one.name / path).write_text(text, encoding="utf-8")
        sources = [path for path in one.files if path.endswith((".cu", ".cpp"))]
        ported = [path.replace(".cu", ".hip") for path in sources]
        lines = (
            "[[program]]",
            f'name = "{one.name}"',
            f'folder = "{one.name}"',
            f'build = ["nvcc -std=c++17 --extended-lambda -o main {" ".join(sources)}"]',
            f'build_port = ["hipcc -std=c++17 -o main {" ".join(ported)}"]',
            'run = "./main"',
            "seconds = 60",
        )
        tables.append("\n".join(lines))
    (folder / "porter.toml").write_text("\n\n".join(tables) + "\n", encoding="utf-8")
