"""Programs that a 32-lane habit breaks, and near misses, written by someone who did not know the rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
HEADER = FOLDER / "show.h"
_MARK = "//@ "


@dataclass(frozen=True)
class Written:
    """One program, with what was expected of its port before anything ran."""

    family: str
    name: str
    round: str
    expected: str
    """kept: wrong on 64 lanes unless something is done; told: nothing sound can be done; right: a near miss."""
    codes: tuple[str, ...]
    """Findings that leave work."""
    about: str
    body: str

    @property
    def text(self) -> str:
        """The whole source."""
        return f'#include "../show.h"\n#include <cstring>\n{self.body}'


def programs() -> tuple[Written, ...]:
    """All of them, by family."""
    return tuple(one for file in sorted(FOLDER.glob("*.txt")) for one in _read(file))


def _read(file: Path) -> list[Written]:
    found = []
    for part in file.read_text(encoding="utf-8").split(_MARK)[1:]:
        head, _, body = part.partition("\n")
        name, number, expected, codes, about = head.split(" ", 4)
        listed = () if codes == "-" else tuple(codes.split(","))
        found.append(Written(file.stem, name, number, expected, listed, about, body.strip() + "\n"))
    return found


def write(folder: Path, chosen: tuple[Written, ...]) -> None:
    """A project for `porter run --compare --source FOLDER`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / HEADER.name).write_bytes(HEADER.read_bytes())
    tables = []
    for one in chosen:
        (folder / one.name).mkdir()
        (folder / one.name / f"{one.name}.cu").write_text(one.text, encoding="utf-8")
        lines = (
            "[[program]]",
            f'name = "{one.name}"',
            f'folder = "{one.name}"',
            f'build = ["nvcc -std=c++17 -o main {one.name}.cu"]',
            f'build_port = ["hipcc -std=c++17 -o main {one.name}.hip"]',
            'run = "./main"',
            "seconds = 40",
        )
        tables.append("\n".join(lines))
    (folder / "porter.toml").write_text("\n\n".join(tables) + "\n", encoding="utf-8")
