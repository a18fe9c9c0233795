"""Virtual devices: compiled GPU code, run on the CPU."""
