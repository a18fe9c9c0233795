"""Launches of the virtual NVIDIA GPU, recorded here and replayed on a real one."""
