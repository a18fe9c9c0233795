"""Mutated input of every kind that porter reads, in search of crashes, hangs, lost bytes and unstable results."""
