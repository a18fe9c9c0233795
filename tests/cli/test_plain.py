"""Command lines that are read without the library: the same as with it, and none that it would refuse."""

from __future__ import annotations

import shlex
import typing
from collections.abc import Mapping

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from porter import cli
from porter.commands import plain
from porter.commands.porting import Asked

PLAIN = (
    "port src -o out",
    "port -o out src",
    "port src --output=out --force",
    "port src --in-place --strict -v",
    "port src --diff --verbose --rocm 6.3",
    "port a=b -o out --verify --comments",
    "port src -o out --format json -j 2",
    "port src -o out --format=markdown --jobs=12",
    "port src -o out --warp native --style dual --torch standalone --config porter.toml",
    "port src -o out --include 'a/**' --include=b --exclude c --omit d",
    "port src -o out --gitignored copy --vendored skip",
    "port src",
    "port src -o out --warp nonsense",
    "scan src",
    "scan src --format text --jobs 1 --strict",
)
LEFT_TO_THE_LIBRARY = (
    "",
    "-q",
    "all src -o out",
    "port",
    "port --help",
    "port src -h",
    "port src other -o out",
    "port src -o",
    "port src -o -",
    "port src -o out -o more",
    "port src -o out --strict --strict",
    "port src -o out --strict=yes",
    "port src -o out --format yaml",
    "port src -o out -j 0",
    "port src -o out -j two",
    "port src -oout",
    "port src --out out",
    "port -- src",
    "port '' -o out",
    "port src -o ''",
    "port src --gitignored never",
    "port src -o \udcff",
    "scan src -o out",
    "scan src --force",
)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Asked]]:
    """What the commands were asked for, by either way."""
    found: list[tuple[str, Asked]] = []
    for name, commands in (("scanned", "scan"), ("ported", "port")):

        def note(asked: Asked, name: str = name) -> int:
            found.append((name, asked))
            return 0

        monkeypatch.setattr(cli, name, note)
        monkeypatch.setattr(plain, "_COMMANDS", {**plain._COMMANDS, commands: note})
    return found


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_means_what_the_library_says(seen: list[tuple[str, Asked]], line: str) -> None:
    words = shlex.split(line)
    assert plain.plain_run(words) == 0
    assert CliRunner().invoke(cli.app, words).exit_code == 0
    mine, theirs = seen
    assert mine == theirs


@pytest.mark.parametrize("line", LEFT_TO_THE_LIBRARY)
def test_any_other_line_is_left_to_the_library(seen: list[tuple[str, Asked]], line: str) -> None:
    assert plain.plain_run(shlex.split(line)) is None
    assert not seen


def test_shells_ask_the_library(seen: list[tuple[str, Asked]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Completion is asked for in the environment."""
    monkeypatch.setenv("_PORTER_COMPLETE", "complete_bash")
    assert plain.plain_run(["scan", "src"]) is None


def test_every_option_is_known() -> None:
    """An option that is new here and not there would be left to the library for ever, in silence."""
    commands: Mapping[str, typing.Any] = typing.cast(typing.Any, get_command(cli.app)).commands
    for command, less in (("port", frozenset[str]()), ("scan", plain._OF_PORT)):
        names = {name for one in commands[command].params for name in one.opts if one.name not in ("source", "help")}
        assert names == ({*plain._FLAGS, *plain._VALUES} - less) | {
            short for short, name in plain._SHORT.items() if name not in less
        }
