"""Expected results of the kernels around the all-reduce, in float64."""

from __future__ import annotations

from torch import Tensor


def reference_gradient(weights: Tensor, target: Tensor) -> Tensor:
    """weights, target: (n,) float32 -> grad: (n,). Launch: one thread per element."""
    return weights.double() - target.double()


def reference_sgd_step(
    weights: Tensor, velocity: Tensor, grad: Tensor, rate: float, momentum: float, devices: int
) -> tuple[Tensor, Tensor]:
    """weights, velocity: (n,) float32 in place, grad: (n,) -> weights, velocity. Launch: one thread per element."""
    moved = momentum * velocity.double() + grad.double() / devices
    return weights.double() - rate * moved, moved
