"""The name tables, one TOML file per CUDA library."""
