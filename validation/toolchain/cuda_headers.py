"""Headers of the libraries beside CUDA's compiler (cuBLAS, cuFFT, ...), for machines that have nvcc alone."""

from __future__ import annotations

from pathlib import Path

from porter.validation.toolchain.rocm_headers import Published, include_of

RELEASE = "13.0"
_FOLDER = "nvidia/cu13/include/"


def _library(project: str, version: str, record: str, folder: str = _FOLDER) -> Published:
    return Published(project, version, RELEASE, folder, record, f"cuda-headers/{project}-{version}")


PUBLISHED = (
    _library("nvidia-cublas", "13.0.2.14", "60e8af9bf33cb71ff4bce1998cc76c04098cd0b11fca055d540e73fae4ff6e9a"),
    _library("nvidia-curand", "10.4.0.35", "a4340ab778f30ac2b39e95dd8447a6d79925287d312442c102dac6e2105dc025"),
    _library("nvidia-cufft", "12.0.0.61", "50d86a39c8b16aaedabf82f2e54418ecd00435467f47bdcc12f08b3f00c5dcb4"),
    _library("nvidia-cusparse", "12.6.3.3", "1bc905cfcd5b254d22a6866884cd7280da178e2bf7971dcfef65dd6c11c72dfd"),
    _library("nvidia-cusolver", "12.0.4.66", "2b13143036698247ffae6687e0645d1b903cef6d6851c04bc3f45536f918cb92"),
    _library("nvidia-cuda-nvrtc", "13.0.88", "c836d98d0eebc101713a79a8d2802f22dfe8b3f9118403d987470bc0b59c9e0b"),
    _library(
        *("nvidia-nccl-cu13", "2.27.7", "e4f0731699fef319896ed8ff2ffef2bbb055e235c77e982326e754d2eb4f182f"),
        folder="nvidia/nccl/include/",
    ),
)
"""The wheels of one release; a part of a hundredth of each is fetched."""


def fetched_for_cuda() -> tuple[Path, ...]:
    """The include folders that were fetched."""
    return tuple(folder for published in PUBLISHED if (folder := include_of(published)) is not None)
