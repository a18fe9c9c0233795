"""A pybind11 module around one kernel or launcher, built with nvcc or hipcc, loaded in a process of its own."""
