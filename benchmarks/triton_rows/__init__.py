"""Functions of public Triton libraries: names, shapes, references."""
