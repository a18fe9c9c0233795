"""Triton kernels on the virtual devices."""
