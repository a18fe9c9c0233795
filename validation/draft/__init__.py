"""`porter cases init`: drafts of case files from kernels and the host code around them."""
