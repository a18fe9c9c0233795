"""Whose language a file is written in, by the words of it that only one vendor has."""

from __future__ import annotations

import re

_RUNTIME = rb"(?:Malloc|Memcpy|Free|LaunchKernel|Error_t|Stream_t|Event_t|Success|DeviceSynchronize|GetLastError)"
# Each choice begins with a character of its own and looks back for the edge of a word, which is faster.
_HIP = re.compile(rb"[<\"](?:hip|hipcub|rocprim|rocrand|hiprand|hipblas|rocblas|rocwmma)[/.]|hip(?<=\bhip)" + _RUNTIME)
_CUDA = re.compile(rb"[<\"](?:cuda|cub|cublas|curand|cufft|cusparse|mma)[\w/]*[.>]|cuda(?<=\bcuda)" + _RUNTIME)


def language_of(path: str, *texts: bytes) -> str:
    """`hip` for what uses more of HIP than of CUDA: a port, also one with a few CUDA names left."""
    if path.endswith(".hip"):
        return "hip"
    uses_hip = sum(len(_HIP.findall(text)) for text in texts if b"hip" in text)
    return "hip" if uses_hip and uses_hip > sum(len(_CUDA.findall(text)) for text in texts) else "cuda"
