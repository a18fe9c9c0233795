"""Kernels that torch.compile generates, on the virtual devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from porter.validation.triton.compiling import why_no_triton

import porter

torch: Any = None
functional: Any = None

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("name", ["gfx942", "ptx"])]
CASES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "softmax": (lambda x: functional.softmax(x, -1), [(5, 100)]),
    "layer_norm": (lambda x, w, b: functional.layer_norm(x, (100,), w, b), [(5, 100), (100,), (100,)]),
    "column_sums": (lambda x: (x * 2 + 1).sum(0), [(300, 40)]),
    "long_variance": (lambda x: x.var(1), [(3, 3000)]),
    "pointwise": (lambda x, y: functional.gelu(x) * y + torch.sin(y), [(33, 7), (33, 7)]),
    "scan": (lambda x: x.cumsum(1), [(5, 100)]),
    "argmax": (lambda x: x.argmax(1), [(5, 300)]),
}


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    """Now, for it takes seconds, and as modules, for what is compiled asks them."""
    global torch, functional
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    missing = why_no_triton()
    if missing is not None:
        pytest.skip(missing)


@pytest.mark.parametrize("case", CASES)
def test_fused_kernels_give_what_torch_gives(name: str, case: str) -> None:
    function, shapes = CASES[case]
    torch.manual_seed(1)
    given = [torch.randn(shape) for shape in shapes]
    with porter.triton_device(name, inductor=True) as checks:
        found = torch.compile(function)(*given)
    assert checks.launches and all(kernel.startswith("triton_") for kernel in checks.kernels), checks.kernels
    assert torch.allclose(found.double(), function(*(t.double() for t in given)).double(), atol=1e-4)


def test_gradients_and_the_device_named_cuda(name: str) -> None:
    """Forward and backward are kernels of their own; afterwards torch.compile is as it was."""

    def loss(x: Any, w: Any) -> Any:
        return functional.cross_entropy(functional.silu(x) * w, torch.arange(5, device=x.device))

    x, w = torch.randn(5, 60, requires_grad=True), torch.randn(60, requires_grad=True)
    with porter.triton_device(name, cuda=True, inductor=True) as checks:
        compiled = torch.compile(loss)
        compiled(x.cuda(), w.cuda()).backward()
        launches = checks.launches
    exact = [t.detach().double().requires_grad_() for t in (x, w)]
    loss(*exact).backward()
    assert launches >= 2 and all(
        torch.allclose(t.grad.double(), e.grad, atol=1e-6) for t, e in zip((x, w), exact, strict=True)
    )
    assert torch.allclose(torch.compile(loss, backend="eager")(x, w), loss(x, w)) and checks.launches == launches
