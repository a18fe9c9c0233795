"""What CUDA names are called in HIP: the tables, their loader, and how they are derived."""
