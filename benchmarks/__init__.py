"""Scripts that measure porter on public CUDA programs the user has at hand."""
