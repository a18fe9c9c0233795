"""Arguments cut down until they fit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from porter.validation.programs.outcome import Account, ProgramRun, Verdict
from porter.validation.programs.sizes import capped, choose


@pytest.mark.parametrize(
    ("words", "cap", "small"),
    [
        (("4096", "100"), 512, ("512", "100")),
        (("1000000",), 512, ("512",)),
        (("1000",), 300, ("300",)),
        (("--n=65536", "-r", "3"), 32, ("--n=32", "-r", "3")),
        (("file01.txt", "007", "0.5"), 8, ("file01.txt", "007", "0.5")),
        (("768",), 512, ("512",)),
        (("12345",), 100, ("100",)),
    ],
)
def test_capped(words: tuple[str, ...], cap: int, small: tuple[str, ...]) -> None:
    assert capped(words, cap) == small


def _run(n: int, verdict: Verdict = Verdict.PASSED, output: bytes = b"") -> ProgramRun:
    account = Account(launches=int(verdict is Verdict.PASSED), lane_instructions=1000 * n)
    return ProgramRun((), verdict, "", 0, account, 0.0, output=output)


def test_grows_until_the_budget_is_near() -> None:
    sized = choose(["1000000"], lambda words: _run(int(words[0])), 10**6, 5.0)
    assert 250 <= int(sized.arguments[0]) <= 1000 and not sized.whole


def test_own_arguments_when_they_fit() -> None:
    sized = choose(["64"], lambda words: _run(int(words[0])), 10**6, 5.0)
    assert sized.arguments == ("64",) and sized.whole


def test_too_small_to_show_anything() -> None:
    def attempt(words: Sequence[str]) -> ProgramRun:
        return _run(int(words[0]), Verdict.PASSED if int(words[0]) >= 100 else Verdict.NO_LAUNCH)

    assert int(choose(["1000"], attempt, 10**7, 5.0).arguments[0]) >= 100


def test_sizes_that_a_program_cannot_do_are_left() -> None:
    def attempt(words: Sequence[str]) -> ProgramRun:
        return _run(int(words[0]), Verdict.PASSED if int(words[0]) < 100 else Verdict.FAULT)

    assert int(choose(["1024"], attempt, 10**9, 5.0).arguments[0]) == 32


def test_smaller_still_where_the_first_is_too_much() -> None:
    def attempt(words: Sequence[str]) -> ProgramRun:
        return _run(int(words[0]), Verdict.PASSED if int(words[0]) < 2 else Verdict.TOO_LONG)

    sized = choose(["4096"], attempt, 10**9, 5.0)
    assert (sized.arguments, sized.run.verdict, sized.tried) == (("1",), Verdict.PASSED, 3)
    never = choose(["4096"], lambda words: _run(1, Verdict.TOO_LONG), 10**9, 5.0)
    assert (never.arguments, never.run.verdict, never.tried) == (("1",), Verdict.TOO_LONG, 3)
    assert choose(["2"], lambda words: _run(1, Verdict.TOO_LONG), 10**9, 5.0).tried == 2
    assert choose([], lambda words: _run(1, Verdict.TOO_LONG), 10**9, 5.0).tried == 1


def test_a_number_that_wants_to_be_large_while_the_others_stay_small() -> None:
    def attempt(words: Sequence[str]) -> ProgramRun:
        steps, size = int(words[1]), int(words[3])
        verdict = Verdict.IGNORED_ERROR if size < 50 else Verdict.TOO_LONG if steps * size > 1000 else Verdict.PASSED
        return _run(steps * size, verdict)

    words = ["--steps", "1000", "--grid", "256"]
    sized = choose(words, attempt, 10**9, 5.0)
    assert (sized.arguments, sized.run.verdict, sized.whole) == (
        ("--steps", "8", "--grid", "64"),
        Verdict.PASSED,
        False,
    )
    never = choose(words, lambda given: _run(1, Verdict.CRASHED), 10**9, 5.0)
    assert never.run.verdict is Verdict.CRASHED and never.tried < 20
    assert choose(words, lambda given: _run(1, Verdict.TOO_LONG), 10**9, 5.0).tried == 3


def test_no_words_no_growth() -> None:
    assert choose([], lambda words: _run(1), 10**6, 5.0).tried == 1
