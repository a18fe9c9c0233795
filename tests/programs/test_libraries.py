"""The stand-ins for cuBLAS, cuFFT, cuRAND and HIP's against NumPy, on both sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices.core.hostcc import HostCompiler, find_host_compiler
from porter.validation.programs.dropin import defined, names_of
from porter.validation.programs.launch import run_program
from porter.validation.programs.libraries import STAND_INS, StandIn, asked_for, build_stand_in
from porter.validation.programs.outcome import ProgramRun, Verdict
from porter.validation.programs.show import run_text
from porter.validation.programs.sides import CUDA, HIP

pytestmark = pytest.mark.slow
M, N, K = 3, 4, 5
Array = np.ndarray


def numbers(count: int, seed: int, kind: type = float) -> Array:
    """What the program's kernel writes."""
    return ((np.arange(count) * 7 + seed * 13) % 11 - 5).astype(kind)


def pairs(count: int, seed: int) -> Array:
    """The same, as complex numbers."""
    return numbers(2 * count, seed).view(complex)


def matrix(values: Array, rows: int) -> Array:
    """Stored by columns."""
    return values.reshape(-1, rows).T


def flat(values: Array) -> Array:
    """As the program prints it."""
    plain = np.ascontiguousarray(values.T.reshape(-1))
    return plain.view(float) if np.iscomplexobj(plain) else plain


def ran(program: Path, mode: str) -> tuple[ProgramRun, dict[str, Array]]:
    """One mode: the run, and the numbers of each of its lines."""
    done = run_program([str(program), mode], keep=True)
    if "FFTW" in done.reason:
        pytest.skip(done.reason)
    lines = [line.split(":", 1) for line in done.output.decode().splitlines() if ":" in line]
    return done, {name: np.array([float(word) for word in values.split()]) for name, values in lines}


def test_vectors(libraries: Path) -> None:
    done, got = ran(libraries, "vectors")
    assert done.verdict is Verdict.PASSED, done.reason
    x, y, z = numbers(6, 1), numbers(12, 2), pairs(3, 3)
    expected: dict[str, Array | float] = {
        "dot": x @ y[::2],
        "nrm2": np.linalg.norm(x),
        "scasum": float(np.abs(y).sum()),
        "amax": int(np.argmax(np.abs(x))) + 1,
    }
    y[::2] += 2 * x
    expected["axpy"], expected["scal"] = y, x / 2
    expected["cscal"] = flat(z * (2 + 1j))
    expected["csscal"] = flat(z * (2 + 1j) / 2)
    expected["copy"] = expected["swap"] = y[::2][::-1]
    swapped, other = y[::2][::-1], x / 2
    first, second = swapped / 2 + 2 * other, other / 2 - 2 * swapped
    product = np.vdot(first.view(complex), second.view(complex))
    expected |= {"rot": second, "cdotc": np.array([product.real, product.imag]), "dot on the device": first @ second}
    expected["set and get"] = np.array([1.0, 3, 5])
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-5, err_msg=name)
    texts = [row.text for row in done.account.stand_ins]
    assert any("Sdot" in text for text in texts) and all("blas" in text for text in texts)
    assert "answered by a stand-in" in run_text(done)


def test_matrices(libraries: Path) -> None:
    done, got = ran(libraries, "matrices")
    assert done.verdict is Verdict.PASSED, done.reason
    a, at, b = matrix(numbers(M * K, 1), M), matrix(numbers(K * M, 1), K), matrix(numbers(K * N, 2), K)
    c, x, y = matrix(numbers(M * N, 3), M), numbers(K, 4), numbers(M, 5)
    s, r = matrix(numbers(M * M, 6), M), matrix(numbers(M * N, 7), M)
    ca, cb, cc, cs = (
        matrix(pairs(n, i), k) for n, i, k in ((M * K, 1, M), (N * K, 2, N), (M * N, 3, M), (M * M, 4, M))
    )
    za, zb, zc = (matrix(pairs(n, i), k) for n, i, k in ((K * M, 1, K), (K * N, 2, K), (M * N, 3, M)))
    two, some = 2 + 1j, 0.5 - 1j
    expected = {"dgemm": 2 * a @ b + c / 2, "sgemm": (c := 2 * a @ b + c / 2)}
    expected["sgemm transposed"] = 2 * at.T @ b + c / 2
    expected["cgemm"] = two * ca @ cb.conj().T + some * cc
    expected["zgemm"] = two * za.T @ zb + some * zc
    y = 2 * a @ x + y / 2
    a = a + 2 * np.outer(y, x)
    lower = np.tril(2 * a @ a.T + s / 2)
    s = lower + np.triu(s, 1)
    expected |= {"sgemv": y, "sger": a, "ssyrk": s, "cherk": np.triu(ca @ ca.conj().T) + np.tril(cs, -1)}
    expected["ssymm"] = (lower + np.tril(lower, -1).T) @ r
    unit = np.tril(s, -1) + np.eye(M)
    expected |= {"strmm": 2 * unit @ r, "strsm": np.linalg.solve(unit.T, r)}
    a = 2 * at.T + a / 2
    expected |= {"sgeam": a, "sdgmm": a * x}
    pa, pb = numbers(2 * M * K, 1).reshape(2, K, M), numbers(2 * K * N, 2).reshape(2, N, K)
    expected["strided"] = np.concatenate([flat(pa[i].T @ pb[i].T) for i in (0, 1)])
    expected["batched"] = np.concatenate([flat(pa[i].T @ pb[1 - i].T) for i in (0, 1)])
    for name, value in expected.items():
        scale = np.abs(value).max()
        np.testing.assert_allclose(got[name], flat(value), rtol=2e-5, atol=2e-6 * scale, err_msg=name)


def test_mixed_types(libraries: Path) -> None:
    done, got = ran(libraries, "mixed")
    assert done.verdict is Verdict.PASSED, done.reason
    small = np.array([1, -2, 3, -4, 5, 6, 7, 8]).reshape(2, 4).T
    assert np.array_equal(got["bytes"], flat(small.T @ small))
    first, second = np.array([[1, 3], [2, 4]]), np.array([[-1, 1], [0.5, 2]])
    assert np.array_equal(got["halves"], flat(first @ second))


def test_solvers(libraries: Path) -> None:
    done, got = ran(libraries, "solvers")
    assert done.verdict is Verdict.PASSED, done.reason
    a = np.array([[2, 1, 1, 4, 3, 3, 8, 7, 9], [1, 0, 2, 5, 1, 0, 3, 2, 7.0]]).reshape(2, 3, 3).transpose(0, 2, 1)
    b = np.array([[1, 2, 3], [4, 5, 6.0]])
    solved, inverse = got["solved"][:6].reshape(2, 3), got["solved"][6:].reshape(2, 3, 3).transpose(0, 2, 1)
    np.testing.assert_allclose(solved, np.linalg.solve(a, b[..., None])[..., 0], atol=1e-9)
    np.testing.assert_allclose(inverse, np.linalg.inv(a), atol=1e-8)


def test_transforms(libraries: Path) -> None:
    done, got = ran(libraries, "transforms")
    assert done.verdict is Verdict.PASSED, done.reason
    a, r, d = pairs(24, 1), numbers(24, 2).reshape(4, 6), pairs(15, 3).reshape(3, 5)
    padded = numbers(20, 4).reshape(2, 10)[:, :8]
    expected = {
        "c2c": np.fft.fft(a.reshape(3, 8)).reshape(-1),
        "r2c": np.append(np.fft.rfft2(r).reshape(-1), numbers(40, 0).view(complex)[16:]),
        "c2r": r.reshape(-1) * 24,
        "z2z": np.fft.ifft2(d).reshape(-1) * 15,
        "columns": np.fft.fft(a.reshape(6, 4), axis=0).reshape(-1),
        "in place": np.fft.rfft(padded).reshape(-1),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], flat(value), atol=2e-5, err_msg=name)


def test_sparse(libraries: Path) -> None:
    done, got = ran(libraries, "sparse")
    assert done.verdict is Verdict.PASSED, done.reason
    a = np.array([[2, 0, 0, 1, 0], [0, 3, 0, 0, 4], [5, 0, 6, 0, 0], [0, 7, 0, 8, 0]])
    low = np.array([[2, 0, 0], [1, 4, 0], [3, 0, 5]])
    x, y, b = numbers(5, 1), numbers(4, 2), numbers(15, 3)
    y = 2 * a @ x + y / 2
    expected = {"spmv": y, "spmv transposed": a.T @ y + x / 2, "dense": a.reshape(-1)}
    expected["spmm"] = flat(2 * a @ b.reshape(5, 3) + matrix(numbers(12, 4), 4) / 2)
    expected |= {"spsv": np.linalg.solve(low, 2 * b[:3]), "spsv transposed": np.linalg.solve(low.T, 2 * b[:3])}
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-5, atol=1e-6, err_msg=name)


def test_random_numbers(libraries: Path) -> None:
    done, got = ran(libraries, "random")
    assert done.verdict is Verdict.PASSED, done.reason
    published = ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]  # of Philox 4x32-10, all zero
    assert [f"{int(word):08x}" for word in got["words"][:4]] == published
    uniform, normal, poisson = got["uniform"], got["normal"], got["poisson"]
    assert uniform.min() > 0 and uniform.max() <= 1 and len(np.unique(uniform)) > 19_900
    assert abs(uniform.mean() - 0.5) < 0.01 and abs(uniform.var() - 1 / 12) < 0.002
    assert abs(normal.mean() - 3) < 0.06 and abs(normal.std() - 2) < 0.04
    assert abs(poisson.mean() - 40) < 0.2 and abs(poisson.var() - 40) < 1.5
    assert abs(np.corrcoef(uniform[:-1], uniform[1:])[0, 1]) < 0.03
    sobol = got["sobol"].reshape(2, 64)
    for line in sobol:
        assert sorted(int(value * 64) for value in line) == list(range(64)), "one point in each 64th"
    quarters = {(int(8 * x), int(8 * y)) for x, y in sobol.T}
    assert len(quarters) == 64, "and one in each square of a grid of 8 x 8"
    assert any("not the vendor's sequence" in row.text for row in done.account.notes)


def test_calls_that_a_stream_captures(libraries: Path) -> None:
    done, got = ran(libraries, "captured")
    assert done.verdict is Verdict.PASSED, done.reason
    x, y, z, scalar = numbers(6, 1), numbers(6, 2), numbers(6, 4), numbers(1, 5)[0]
    np.testing.assert_array_equal(got["before"], y)
    for _ in range(2):
        y = y + 2 * x
        z = scalar * (2 * matrix(numbers(36, 3), 6).T @ x + z)
    np.testing.assert_allclose(got["axpy"], y)
    np.testing.assert_allclose(got["gemv"], z)
    np.testing.assert_allclose(got["dot"], x @ y)
    ones = numbers(3, 0)
    product = np.array([ones[0] * x[0] + ones[1] * x[5], ones[2] * x[2]])
    np.testing.assert_allclose(got["spmv"], numbers(2, 7) + 2 * 2 * product)


def test_a_result_for_the_host_is_not_captured(libraries: Path) -> None:
    done, got = ran(libraries, "captured result")
    assert got["refused"] == 1 and done.verdict is Verdict.UNSUPPORTED
    assert "in a stream that captures" in done.reason


def test_beyond_an_allocation(libraries: Path) -> None:
    done, _ = ran(libraries, "beyond")
    assert done.verdict is Verdict.IGNORED_ERROR and "4 bytes into device memory 1 (36 bytes)" in done.reason


def test_what_is_not_implemented_is_named(libraries: Path) -> None:
    done, got = ran(libraries, "absent")
    assert done.verdict is Verdict.UNSUPPORTED and "Sspr" in done.reason and got["refused"] == 1


@pytest.mark.parametrize("row", STAND_INS, ids=lambda row: row.name)
def test_every_name_is_there(row: StandIn) -> None:
    compiler = find_host_compiler()
    assert isinstance(compiler, HostCompiler)
    version = row.side.versions[-1][0]
    built = build_stand_in(row, compiler, version)
    assert isinstance(built, Path), built
    assert set(names_of(row.name)) <= defined([built / row.files(version)[0]])


def test_asked_for_by_the_names_of_the_loader() -> None:
    linked = "libcublasLt.so.13 => not found libcufft.so.11 libhipblas.so.2"
    assert [row.name for row in asked_for(CUDA, "13", linked)] == ["cublas"]
    assert [row.name for row in asked_for(CUDA, "12", linked)] == ["cufft"]
    assert [row.name for row in asked_for(HIP, "6", linked)] == ["hipblas"]
