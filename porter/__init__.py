"""porter: brings CUDA code to HIP on 64-lane AMD GPUs and says what is left to do."""

__version__ = "0.2.0"
