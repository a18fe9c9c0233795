"""Build files: which they are, and where they mention CUDA."""
