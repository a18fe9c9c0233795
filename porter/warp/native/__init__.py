"""Widening kernels to 64 lanes: per kernel, all of it or nothing, with the reason where nothing."""
