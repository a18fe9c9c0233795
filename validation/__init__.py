"""Building ports, running them on real and virtual devices, and comparing results."""
