"""B003 among all rules: the data types of a call are renamed, the one it computes in becomes a compute type."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import porter


def test_a_constant_becomes_a_compute_type(tmp_path: Path) -> None:
    call = "cublasGemmEx(h,t,t,m,m,m,a,A,CUDA_R_16F,m,A,CUDA_R_16F,m,a,C,CUDA_R_16F,m,CUDA_R_32F,CUBLAS_GEMM_DEFAULT)"
    (tmp_path / "a.cu").write_text(f"#include <cublas_v2.h>\nvoid f() {{ {call}; }}\n")
    porter("port", tmp_path / "a.cu", "-o", tmp_path / "out")
    text = (tmp_path / "out" / "a.hip").read_text()
    assert "C,HIP_R_16F,m,HIPBLAS_COMPUTE_32F,HIPBLAS_GEMM_DEFAULT)" in text
