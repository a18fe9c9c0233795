"""Drafted cases see what usual values and sizes hide: near misses are what the original does not take."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.devices import registry
from porter.validation.draft.init import DraftedCase, draft
from porter.validation.draft.probing import probes
from porter.validation.draft.trying import try_sizes

from tests.validate.running import by_name, run

HEAD = "__global__ void k({parameters}) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}\n"
HOST = (
    "void go(int n, {given}) {{ {kind} *a; cudaMalloc(&a, n * sizeof({kind})); {other} *b; "
    "cudaMalloc(&b, n * sizeof({other})); k<<<{grid}, 64>>>(a, b, n); }}\n"
)


def _part(folder: Path, parameters: str, body: str, kind: str, other: str, grid: str = "(n + 63) / 64") -> DraftedCase:
    host = HOST.format(kind=kind, other=other, grid=grid, given="int unused")
    (folder / "k.cu").write_text(HEAD.format(parameters=parameters, body=body) + host)
    (part,) = draft(folder / "k.cu").parts
    return part


@pytest.mark.parametrize(
    ("element", "body", "wider"),
    [
        ("unsigned", "if (i < n) for (int j = 0; j < a[i]; j++) b[i] += j;", None),
        ("unsigned", "if (i < n) b[i] = 1 << a[i];", None),
        ("float", "if (i < n) b[i] = a[i];", None),
        ("unsigned", "if (i < n) b[i] = a[i] ^ (a[i] >> 7);", "in a: uint32[n] = bits"),
        ("unsigned char", "for (; i < n; i += 9) b[i] = a[i];", "in a: uint8[n] = bits"),
        ("int", "if (i < n) b[i] = a[i] / 3;", "in a: int32[n] = integers(-100, 100)"),
    ],
)
def test_the_whole_range_of_integers(element: str, body: str, wider: str | None, tmp_path: Path) -> None:
    part = _part(tmp_path, f"const {element} *a, int *b, int n", body, element, "int")
    found = [line for one in probes(part, part.body) for line in one.after if " a: " in line and line not in part.after]
    assert found == ([] if wider is None else [f'  "{wider}",'])


@pytest.mark.parametrize(
    ("parameters", "body", "profiles"),
    [
        ("const int *a, int *b, int n", "if (i < n) b[i] = max(a[i], 3);", ()),
        ("const float *a, float *b, int n", "if (i < n) b[i] = 2 * a[i];", ()),
        ("const float *a, float *b, int n", "if (i < n) b[i] = fmaxf(a[i], 0.f);", ("nonfinite",)),
        ("const float *a, int *b, int n", "if (i < n) b[i] = a[i] > 1.f;", ("ties",)),
        ("const float *a, int *b, int n", "if (i < n) b[i] = isnan(a[i]);", ("nonfinite", "ties")),
    ],
)
def test_values_that_a_kernel_tells_apart(
    parameters: str, body: str, profiles: tuple[str, ...], tmp_path: Path
) -> None:
    kinds = [word for word in parameters.replace("*", " ").split() if word in ("int", "float")]
    assert _part(tmp_path, parameters, body, kinds[0], kinds[1]).profiles == profiles


@pytest.mark.parametrize(
    ("grid", "sizes"),
    [
        ("(n + 63) / 64", [1, 31, 32, 33, 997, 1000]),
        ("4", [1, 31, 32, 33, 997, 1000]),
        ("16", [1, 31, 32, 33, 997, 1000, 2000]),
        ("256", [1, 31, 32, 33, 997, 1000, 20000]),
        ("4096", [1, 31, 32, 33, 997, 1000, 300000]),
        ("100000", [1, 31, 32, 33, 997, 1000]),
    ],
)
def test_loops_over_a_grid_go_round_again(grid: str, sizes: list[int], tmp_path: Path) -> None:
    body = "for (; i < n; i += blockDim.x * gridDim.x) b[i] = 2 * a[i];"
    part = _part(tmp_path, "const float *a, float *b, int n", body, "float", "float", grid)
    assert part.sizes.lines() == [f"sweep = {{ n = {sizes} }}"]
    assert "tolerance = { reduction = 4 }" in part.after


@pytest.mark.slow
def test_what_the_original_does_not_take_is_left(tmp_path: Path) -> None:
    if (reason := registry.why_not("ptx")) is not None:
        pytest.skip(reason)
    part = _part(
        tmp_path, "const int *a, int *b, int n", "if (i < n) { if (a[i] < 0) b[n + 999] = i; b[i] = i; }", "int", "int"
    )
    assert any("-100" in line for one in probes(part, part.body) for line in one.after)
    (tried,) = try_sizes(draft(tmp_path / "k.cu"))
    assert "-100" not in tried.text


@pytest.mark.slow
def test_guessed_cases_have_several_sizes(tmp_path: Path) -> None:
    if (reason := registry.why_not("ptx")) is not None:
        pytest.skip(reason)
    (tmp_path / "k.cu").write_text(
        """
        __global__ void k(float **rows, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) rows[blockIdx.y][i] += 1; }
        void go(int n) { float **rows; cudaMalloc(&rows, 4 * sizeof(float *));
          k<<<dim3((n + 63) / 64, 4), 64>>>(rows, n); }
        """
    )
    (tried,) = try_sizes(draft(tmp_path / "k.cu"))
    assert "sweep = { n = [1, 31, 32, 33, 997, 1000] }" in tried.text


WRONG = (
    ("fmaxf(a[i], b[i])", "(a[i] > b[i] ? a[i] : b[i])"),
    ("i += blockDim.x * gridDim.x", "i += blockDim.x * gridDim.x + 1"),
    ("h[i] >> 16", "(int)h[i] >> 16"),
    ("a[i] > b[i]", "a[i] >= b[i]"),
)
SOURCE = """
__global__ void k(const float *a, const float *b, const unsigned *h, float *c, unsigned *d, int *e, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    c[i] = fmaxf(a[i], b[i]);
    d[i] = h[i] >> 16;
    e[i] = a[i] > b[i];
  }
}
"""


@pytest.mark.slow
def test_ports_that_are_wrong_for_such_values_are_rejected(tmp_path: Path) -> None:
    """A draft as `porter cases init --try` makes it, and ports that usual values do not tell from right ones."""
    if (reason := registry.why_not("ptx")) is not None:
        pytest.skip(reason)
    host = "void go(int n) { float *a, *b, *c; unsigned *h, *d; int *e; " + "".join(
        f"cudaMalloc(&{name}, n * 4); " for name in "abchde"
    )
    (tmp_path / "k.cu").write_text(f"{SOURCE}{host} k<<<16, 64>>>(a, b, h, c, d, e, n); }}\n")
    made = draft(tmp_path / "k.cu")
    (tried,) = try_sizes(made)
    path = tmp_path / "k.case.toml"
    path.write_text(made.head() + tried.text)
    (case,) = run(path).report.cases
    assert case.status.value == "passed", case.reason
    path.write_text(path.read_text().replace("[[case]]", '[[case]]\nport = "k.hip"\nport_lanes = 32'))
    for right, wrong in WRONG:
        assert right in SOURCE
        (tmp_path / "k.hip").write_text("#include <hip/hip_runtime.h>\n" + SOURCE.replace(right, wrong))
        case = by_name(run(path))["k"]
        assert case.status.value in ("wrong-values", "non-finite"), (wrong, case.status, case.reason)
