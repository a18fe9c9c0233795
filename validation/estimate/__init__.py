"""How long a kernel may take on an AMD GPU, from an execution that counts: an estimate with its band, never a time."""
