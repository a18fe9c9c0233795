"""Gaps that many names share because they belong to one thing: to a reader one cause, and not one for each name."""

from __future__ import annotations

from porter.names.error_numbers import ERROR_NUMBERS

_THINGS = (
    "tensor maps (TMA)",
    "multicast objects",
    "roctx has marks and ranges",
    "HIP has no typedefs of function pointers",
    "HIP never returns this error",
    "gfx942's fp8 is FNUZ",
    "gfx942 reports compute capability 9.4",
    "CUB's configuration macro",
    "a configuration macro of libcu++",
    "HIP's profiler control",
    "MIOpen has no counterpart",
    "cuBLASLt in CUDA only",
)


def as_error_number(name: str) -> str | None:
    """What an error that HIP never returns is in the port: CUDA's number, which no error of HIP's has."""
    number = ERROR_NUMBERS.get(name)
    return None if number is None else f"(hipError_t){number}"


def one_cause(name: str, reason: str) -> str:
    """The text of a finding: without the name where the reason says what the thing is."""
    return reason if reason.startswith(_THINGS) else f"{name}{reason}"
