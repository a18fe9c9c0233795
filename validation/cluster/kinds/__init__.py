"""What there is to be done on workers: one module per command."""
