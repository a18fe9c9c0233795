"""References of the matrix, row and element-wise samples against plain loops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.later import later
from tests.samples.loading import reference

if TYPE_CHECKING:
    import torch
else:
    torch = later("torch")

Array = np.ndarray[Any, Any]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(21)


def _tensor(values: Array) -> torch.Tensor:
    return torch.from_numpy(values)


def _close(got: torch.Tensor, want: Any) -> None:
    np.testing.assert_allclose(got.numpy(), np.asarray(want), rtol=1e-12, atol=1e-12)


def _normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def _product(a: Array, b: Array) -> Array:
    out = np.zeros((a.shape[0], b.shape[1]))
    for m in range(a.shape[0]):
        for n in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[m, n] += float(a[m, k]) * float(b[k, n])
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_axpby(rng: np.random.Generator, dtype: type[np.floating[Any]]) -> None:
    x, y = rng.standard_normal((2, 9)).astype(dtype)
    want = [2.0 * float(a) - 0.5 * float(b) for a, b in zip(x, y, strict=True)]
    _close(reference("elementwise").reference_axpby(_tensor(x), _tensor(y), 2.0, -0.5), want)


def test_elementwise(rng: np.random.Generator) -> None:
    module = reference("elementwise")
    x = rng.standard_normal(9).astype(np.float16)
    _close(module.reference_silu_half(_tensor(x)), [float(v) / (1 + math.exp(-float(v))) for v in x])
    rows = _normal(rng, 3, 4)
    want = [[3.0 * min(max(float(v), -1.0), 0.5) for v in row] for row in rows]
    _close(module.reference_clamp_scale(_tensor(rows), -1.0, 0.5, 3.0), want)
    assert module.reference_clamp_scale(torch.tensor([[math.nan]]), -1.0, 0.5, 3.0).item() == -3.0


def test_tiled_matmul(rng: np.random.Generator) -> None:
    module = reference("tiled_matmul")
    a, b = _normal(rng, 3, 5), _normal(rng, 5, 4)
    _close(module.reference_matmul_tiled(_tensor(a), _tensor(b)), _product(a, b))
    _close(module.reference_matmul_blocked(_tensor(a), _tensor(b)), _product(a, b))
    got = module.reference_transpose(_tensor(a))
    assert got.is_contiguous() and got.shape == (5, 3)
    assert all(got[k, m].item() == float(a[m, k]) for m in range(3) for k in range(5))


@pytest.mark.parametrize("kernel", ["reference_softmax_warp", "reference_softmax_block"])
def test_softmax(rng: np.random.Generator, kernel: str) -> None:
    data = _normal(rng, 3, 7)
    want = []
    for row in data.tolist():
        powers = [math.exp(value - max(row)) for value in row]
        want.append([power / sum(powers) for power in powers])
    _close(getattr(reference("softmax"), kernel)(_tensor(data)), want)


def test_layer_norm(rng: np.random.Generator) -> None:
    module = reference("layer_norm")
    x, dy, gamma, beta = _normal(rng, 4, 6), _normal(rng, 4, 6), _normal(rng, 6), _normal(rng, 6)
    y, mean, rstd = module.reference_layer_norm_forward(_tensor(x), _tensor(gamma), _tensor(beta), 1e-3)
    for r in range(4):
        mu = sum(map(float, x[r])) / 6
        scale = 1 / math.sqrt(sum((float(v) - mu) ** 2 for v in x[r]) / 6 + 1e-3)
        _close(mean[r], mu)
        _close(rstd[r], scale)
        _close(y[r], [(float(x[r, c]) - mu) * scale * float(gamma[c]) + float(beta[c]) for c in range(6)])

    wide = [_tensor(array).double().requires_grad_() for array in (x, gamma, beta)]
    expected = torch.nn.functional.layer_norm(wide[0], (6,), wide[1], wide[2], 1e-3)
    grads = torch.autograd.grad(expected, wide, _tensor(dy).double())
    dx = module.reference_layer_norm_backward_input(_tensor(dy), _tensor(x), _tensor(gamma), mean, rstd)
    dgamma, dbeta = module.reference_layer_norm_backward_params(_tensor(dy), _tensor(x), mean, rstd)
    for got, want in zip((dx, dgamma, dbeta), grads, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-9)


def test_bias_relu(rng: np.random.Generator) -> None:
    data, bias = _normal(rng, 3, 4), _normal(rng, 4)
    data[0, 0], data[1, 1], data[2, 2] = np.nan, np.inf, -np.inf
    want = [[max(float(data[r, c]) + float(bias[c]), 0.0) for c in range(4)] for r in range(3)]
    want[0][0] = 0.0
    _close(reference("cublas_curand").reference_bias_relu(_tensor(data), _tensor(bias)), want)


def test_texture_resample(rng: np.random.Generator) -> None:
    image = _normal(rng, 4, 5)
    got = reference("texture_filter").reference_resample(_tensor(image), 7, 3)
    for y in range(3):
        for x in range(7):
            u, v = (x + 0.5) * 5 / 7 - 0.5, (y + 0.5) * 4 / 3 - 0.5
            total = 0.0
            for row in (math.floor(v), math.floor(v) + 1):
                for col in (math.floor(u), math.floor(u) + 1):
                    weight = (1 - abs(u - col)) * (1 - abs(v - row))
                    total += weight * float(image[min(max(row, 0), 3), min(max(col, 0), 4)])
            assert got[y, x].item() == pytest.approx(total, abs=1e-6)


def test_texture_look_up_and_blur(rng: np.random.Generator) -> None:
    module = reference("texture_filter")
    table, index = _normal(rng, 9), rng.integers(0, 9, 20).astype(np.int32)
    _close(module.reference_look_up(_tensor(table), _tensor(index)), [float(table[i]) for i in index])
    image, weights = _normal(rng, 3, 6), _normal(rng, 9)
    want = np.zeros((3, 6))
    for y in range(3):
        for x in range(6):
            for k in range(9):
                want[y, x] += float(weights[k]) * float(image[y, min(max(x + k - 4, 0), 5)])
    _close(module.reference_blur_rows(_tensor(image), _tensor(weights)), want)


def test_wmma_gemm(rng: np.random.Generator) -> None:
    module = reference("wmma_gemm")
    a, b = rng.standard_normal((3, 5)).astype(np.float16), rng.standard_normal((4, 5)).astype(np.float16)
    c = _normal(rng, 3, 4)
    _close(module.reference_wmma_gemm(_tensor(a), _tensor(b)), _product(a, b.T))
    staged = module.reference_wmma_gemm_staged(_tensor(a), _tensor(b), _tensor(c), 0.5, 2.0)
    _close(staged, 0.5 * _product(a, b.T) + 2.0 * c.astype(np.float64))


def test_nccl_allreduce(rng: np.random.Generator) -> None:
    module = reference("nccl_allreduce")
    weights, velocity, grad = _normal(rng, 3, 5)
    _close(
        module.reference_gradient(_tensor(weights), _tensor(grad)),
        [float(weights[i]) - float(grad[i]) for i in range(5)],
    )
    moved = [0.2 * float(velocity[i]) + float(grad[i]) / 4 for i in range(5)]
    tensors = (_tensor(weights), _tensor(velocity), _tensor(grad))
    got_weights, got_velocity = module.reference_sgd_step(*tensors, rate=0.3, momentum=0.2, devices=4)
    _close(got_velocity, moved)
    _close(got_weights, [float(weights[i]) - 0.3 * moved[i] for i in range(5)])


def test_torch_extension(rng: np.random.Generator) -> None:
    module = reference("torch_extension")
    x, grad, weight = _normal(rng, 4, 6), _normal(rng, 4, 6), _normal(rng, 6)
    y, rstd = module.reference_rms_norm_forward_kernel(_tensor(x), _tensor(weight), 1e-3)
    for r in range(4):
        scale = 1 / math.sqrt(sum(float(v) ** 2 for v in x[r]) / 6 + 1e-3)
        _close(rstd[r], scale)
        _close(y[r], [float(x[r, c]) * scale * float(weight[c]) for c in range(6)])

    wide = [_tensor(array).double().requires_grad_() for array in (x, weight)]
    expected = torch.nn.functional.rms_norm(wide[0], (6,), wide[1], 1e-3)
    grads = torch.autograd.grad(expected, wide, _tensor(grad).double())
    arguments = (_tensor(grad), _tensor(x))
    dx = module.reference_rms_norm_backward_input_kernel(*arguments, _tensor(weight), rstd)
    dweight = module.reference_rms_norm_backward_weight_kernel(*arguments, rstd)
    for got, want in zip((dx, dweight), grads, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-9)


def test_nvrtc_polynomial(rng: np.random.Generator) -> None:
    x, coefficients = _normal(rng, 70), _normal(rng, 5)
    want = [sum(float(coefficients[k]) * float(value) ** k for k in range(5)) for value in x]
    out, largest = reference("nvrtc_string").reference_polynomial(_tensor(x), _tensor(coefficients))
    _close(out, want)
    _close(largest, [max(want[i : i + 32]) for i in range(0, 70, 32)])
