"""What is set by hand in the name tables; read when they are derived."""
