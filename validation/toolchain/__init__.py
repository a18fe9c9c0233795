"""Compilers: where they are, what they lack, how they are run."""
