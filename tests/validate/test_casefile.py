"""Case files: what is read, and every mistake told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from porter.validation.cases.case import Case, CaseError
from porter.validation.cases.expression import BadExpression, Expression
from porter.validation.cases.file import find_case_files, load_cases, read_cases
from porter.validation.cases.inputs import Trial, fill, shape_of
from porter.validation.cases.shorthand import expand, split
from porter.validation.run.plan import Request, validate

from porter.errors import Unusable

GOOD = """\
schema = "porter-case/1"
source = "k.cu"

[[case]]
kernel = "ns::add<float>"
symbols = { blocks = "ceil_div(n, 32)", twice = "2 * blocks" }
sweep = { n = "awkward", m = [1, 2] }
grid = "blocks"
block = ["lanes", 2]
arguments = [
  "in a: float32[n, m] = uniform(-1, max(n, 1))",
  { name = "out", kind = "out", dtype = "float32", shape = ["n", "m"], layout = "column", pitch = "n + 1" },
  "scalar n: int32 = n",
  "null mask",
]
"""


def _load(folder: Path, text: str) -> tuple[Case, ...]:
    (folder / "k.cu").write_text("template <typename T> __global__ void add(const T*, T*, int, const int*) {}\n")
    path = folder / "k.case.toml"
    path.write_text(text)
    return load_cases(path)


def test_a_case(tmp_path: Path) -> None:
    (case,) = _load(tmp_path, GOOD)
    assert case.name == "add_float" and case.kernel == "ns::add<float>"
    shapes = list(case.shapes())
    assert len(shapes) == 26 and shapes[4] == {"n": 31, "m": 1, "blocks": 1, "twice": 2}
    assert [argument.kind for argument in case.arguments] == ["in", "out", "scalar", "null"]
    assert case.arguments[0].line == 11 and case.arguments[1].line == 12 and case.arguments[3].line == 14
    filled = fill(case, Trial(shapes[4], 1, "random"))
    assert filled.arrays["a"].shape == (31, 1) and filled.scalars["n"].item() == 31


def test_the_same_trial_has_the_same_inputs_and_another_seed_has_others(tmp_path: Path) -> None:
    (case,) = _load(tmp_path, GOOD)
    trial = Trial({"n": 33, "m": 2, "blocks": 2, "twice": 4}, 1, "random")
    first, second = fill(case, trial).arrays["a"], fill(case, trial).arrays["a"]
    assert (first == second).all()
    assert (first != fill(case, Trial(trial.symbols, 2, "random")).arrays["a"]).any()


MISTAKES = [
    ('schema = "porter-case/1"', 'schema = "porter-case/9"', 1, "schema must be 'porter-case/1'"),
    ('source = "k.cu"', 'source = "other.cu"', 2, "no file"),
    ('source = "k.cu"', 'source = "k.cu"\nsorce = 1', 3, "unknown key 'sorce'"),
    ('kernel = "ns::add<float>"', "kernel = 3", 5, "kernel must be a string"),
    ('kernel = "ns::add<float>"', "", 4, "kernel is missing"),
    ('grid = "blocks"', 'grid = "blocks +"', 8, "no expression"),
    ('grid = "blocks"', 'grid = "blokcs"', 8, "unknown symbol 'blokcs'"),
    ('grid = "blocks"', 'grid = "open(1)"', 8, "no such function"),
    ('grid = "blocks"', "grid = \"().__class__\"", 8, "not allowed"),
    ('grid = "blocks"', "grid = [1, 1, 1, 1]", 8, "1 to 3 sides"),
    ('block = ["lanes", 2]', 'block = "TODO"', 9, "still marked TODO"),
    ("ceil_div(n, 32)", "ceil_div(n, 32, 3)", 6, "ceil_div takes 2 arguments"),
    ('n = "awkward"', 'n = "big"', 7, "must be a number"),
    ("m = [1, 2]", "m = [1e400]", 7, None),
    ("m = [1, 2]", "m = [9223372036854775808]", 7, "overflows"),
    ("m = [1, 2]", "lanes = 32", 7, "given by the side"),
    ("in a: float32", "in a: float31", 11, "dtype must be one of"),
    ("in a: float32", "inn a: float32", 11, "KIND NAME"),
    ("uniform(-1, max(n, 1))", "uniform(-1)", 11, "values must be one of"),
    ('kind = "out", dtype', 'kind = "out", values = "zeros", dtype', 12, "takes no values"),
    ('layout = "column"', 'layout = "diagonal"', 12, "layout must be"),
    ('kind = "out"', 'kind = "in"', 10, "nothing to compare"),
    ("scalar n: int32 = n", "scalar n: int32", 13, "value is missing"),
    ("scalar n: int32 = n", "scalar a: int32 = n", 13, "two are named 'a'"),
    ("schema =", "schema", 1, "not TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "words"), MISTAKES)
def test_mistakes_have_a_line(tmp_path: Path, old: str, new: str, line: int, words: str | None) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if words is None:
        _load(tmp_path, text)
        return
    with pytest.raises(CaseError) as caught:
        _load(tmp_path, text)
    assert words in caught.value.message
    assert caught.value.line == line, str(caught.value)


MORE = [
    ('tolerance = { rtol = 1e-3 }', "both rtol and atol"),
    ('tolerance = { policy = "loose" }', "policy"),
    ('tolerance = { policy = "table", rtol = 1, atol = 1 }', "belong to policy 'fixed'"),
    ('tolerance = { rtol = -1, atol = 1 }', "not negative"),
    ('seeds = []', "whole numbers"),
    ('seeds = [-1]', "whole numbers"),
    ('profiles = ["odd"]', "profiles"),
    ('reference = "nowhere.py:f"', "no file"),
    ('reference = "k.cu"', "file.py:function"),
    ('races = "yes"', "true or false"),
    ('not_run = 3', "not_run must be"),
    ('shared = "lanes * widht"', "unknown symbol 'widht'"),
    ('port_lanes = 48', "32 or 64"),
    ('string = 3', "the name of a variable or macro, true, or"),
    ('string = "a b"', "the name of a variable or macro, true, or"),
]  # fmt: skip


@pytest.mark.parametrize(("added", "words"), MORE)
def test_mistakes_in_settings(tmp_path: Path, added: str, words: str) -> None:
    with pytest.raises(CaseError, match=words) as caught:
        _load(tmp_path, GOOD + added + "\n")
    assert caught.value.line == GOOD.count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "names", "message"),
    [
        ('source = "k.cu"', 'source = "absent.cu"', (), "absent.cu"),
        ('schema = "porter-case/1"', 'schema = "porter-case/2"', (), "schema must be"),
        ('"in a: float32[n, m]', '"in a: float32[TODO]', ("second",), "still marked TODO"),
        ('name = "second"', 'name = "add_float"', ("add_float",), "two cases are named"),
        ('"null mask"', '"null mask"', ("add_float", "second"), None),
    ],
)
def test_a_case_with_a_mistake_leaves_the_others(
    old: str, new: str, names: tuple[str, ...], message: str | None, tmp_path: Path
) -> None:
    table = GOOD[GOOD.index("[[case]]") :]
    text = GOOD + "\n" + table.replace("[[case]]\n", '[[case]]\nname = "second"\n')
    assert old in text
    try:
        _load(tmp_path, text.replace(old, new, 1))
    except CaseError as error:
        assert message is not None and message in str(error)
    else:
        assert message is None
    cases, errors = read_cases(tmp_path / "k.case.toml")
    assert tuple(case.name for case in cases) == names
    assert [message in error.message for error in errors] == ([] if message is None else [True])


def test_a_source_stands_for_the_case_file_beside_it(tmp_path: Path) -> None:
    source, other = tmp_path / "k.cu", tmp_path / "other.toml"
    source.touch()
    with pytest.raises(Unusable, match=r"k\.cu is no case file, and there is no k\.case\.toml beside it"):
        find_case_files([source])
    (tmp_path / "k.case.toml").touch()
    other.touch()
    assert find_case_files([source, other]) == [tmp_path / "k.case.toml", other]
    assert find_case_files([tmp_path / "absent.cu"]) == [tmp_path / "absent.cu"]


def test_shapes_that_overflow(tmp_path: Path) -> None:
    (case,) = _load(tmp_path, GOOD)
    with pytest.raises(CaseError, match="the shape overflows"):
        shape_of(case, case.arguments[0], {"n": 2**20, "m": 2**20})
    with pytest.raises(CaseError, match="overflows: its value does not fit"):
        shape_of(case, case.arguments[1], {"n": 2**63, "m": 1})
    with pytest.raises(CaseError, match="is -1"):
        shape_of(case, case.arguments[0], {"n": -1, "m": 1})


def test_unknown_kernels_and_wrong_argument_counts_have_a_line(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("__global__ void scale(float* a, int n) {}\n")
    head = 'schema = "porter-case/1"\nsource = "k.cu"\n'
    body = 'grid = 1\nblock = 1\narguments = ["out a: float32[1]"]\n'
    path = tmp_path / "k.case.toml"
    path.write_text(f'{head}[[case]]\nkernel = "scael"\n{body}[[case]]\nkernel = "scale"\n{body}')
    outcome = validate(Request((path,), ("gfx942",)))
    found = [(error.line, error.message) for error in outcome.report.errors]
    assert found == [
        (4, f"no kernel 'scael' in {tmp_path}/k.cu; there are: scale"),
        (12, "scale takes 2 arguments, not 1"),
    ]


@given(st.text(alphabet="n12 +-*/%()<>=,.absceil_divmxwhf", max_size=30))
def test_expressions_have_a_value_or_a_reason(text: str) -> None:
    expression = Expression(text)
    try:
        expression.check()
        value = expression.value({"n": 7})
    except BadExpression:
        return
    assert isinstance(value, bool | int | float)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ceil_div(n, 32)", 3), ("n // 32 * 32 + n % 32", 65), ("1 if n > 64 else 2", 1), ("min(n, 3) << 2", 12),
        ("round_up(n, 64)", 128), ("next_power_of_two(n)", 128), ("log2(n)", 6), ("n > 1 and n < 9", False),
        ("-n", -65), ("0x10 | 1", 17), ("2 ** 3 ** 2", 512), ("1 < n <= 65", True), ("n / 2", 32.5),
    ],
)  # fmt: skip
def test_expressions(text: str, value: object) -> None:
    assert Expression(text).value({"n": 65}) == value


@pytest.mark.parametrize(
    "text", ["n ** 999", "9 ** 128 ** 2", "1 << 999", "n // 0", "log2(0)", "'a'", "[n]", "n.real", ""]
)
def test_expressions_that_have_no_value(text: str) -> None:
    with pytest.raises(BadExpression):
        Expression(text).value({"n": 65})


def test_shorthand() -> None:
    assert expand("in a: float32[max(n, 1), 4] = integers(0, min(n, 2))") == {
        "name": "a",
        "kind": "in",
        "dtype": "float32",
        "shape": ["max(n, 1)", "4"],
        "values": {"integers": ["0", "min(n, 2)"]},
    }
    assert expand("in a: int32[n] = sub/x.py:f")["values"] == {"hook": "sub/x.py:f"}
    assert expand("scratch t: uint32[1] = zeros")["values"] == "zeros"
    assert split("") == [] and split("a, f(b, c), d") == ["a", "f(b, c)", "d"]
