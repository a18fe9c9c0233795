"""The extension against the same formula in float64."""

from __future__ import annotations

import pytest
import torch

if not torch.cuda.is_available():
    pytest.skip("needs a GPU that PyTorch can use", allow_module_level=True)

from rms_norm_ext import rms_norm

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def expected(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * weight


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("shape", [(1, 1), (3, 31), (5, 64), (7, 33), (2, 3, 1000), (4, 4097)])
def test_forward_and_backward(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    x = torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True)
    weight = torch.randn(shape[-1], device="cuda", dtype=dtype, requires_grad=True)
    grad = torch.randn(shape, device="cuda", dtype=dtype)
    wide = [tensor.detach().double().requires_grad_() for tensor in (x, weight)]
    want = expected(wide[0], wide[1], 1e-6)
    got = rms_norm(x, weight)
    got.backward(grad)
    want.backward(grad.double())
    for actual, reference in ((got, want), (x.grad, wide[0].grad), (weight.grad, wide[1].grad)):
        torch.testing.assert_close(actual.double(), reference, rtol=TOLERANCE[dtype], atol=20 * TOLERANCE[dtype])


def test_gradcheck() -> None:
    x = torch.randn(3, 40, device="cuda", dtype=torch.float64, requires_grad=True)
    weight = torch.randn(40, device="cuda", dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(rms_norm, (x, weight))


def test_no_rows() -> None:
    assert rms_norm(torch.empty(0, 8, device="cuda"), torch.ones(8, device="cuda")).shape == (0, 8)


def test_dtypes_must_agree() -> None:
    with pytest.raises(RuntimeError, match="same dtype"):
        rms_norm(torch.ones(2, 8, device="cuda"), torch.ones(8, device="cuda", dtype=torch.float16))
