"""PyTorch's CUDA half on a virtual device: what programs in Python and their extensions ask of it."""
