"""Builds the extension with the CUDA toolkit that PyTorch was built for."""

from setuptools import find_packages, setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="rms_norm_ext",
    version="1.0",
    packages=find_packages(include=["rms_norm_ext"]),
    ext_modules=[
        CUDAExtension(
            name="rms_norm_ext._C",
            sources=["csrc/rms_norm.cpp", "csrc/rms_norm_kernel.cu"],
            extra_compile_args={
                "cxx": ["-O3"],
                "nvcc": [
                    "-O3",
                    "--use_fast_math",
                    "-lineinfo",
                    "-Xcompiler=-Wall",
                    "-U__CUDA_NO_HALF_CONVERSIONS__",
                ],
            },
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
