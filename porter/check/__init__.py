"""The merge gate: what is new against a base and a baseline of accepted gaps."""
