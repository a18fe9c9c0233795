"""Random kernels of warps: original and port on the virtual devices against a model of 32-lane warps in numpy."""
