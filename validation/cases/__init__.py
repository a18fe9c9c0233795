"""What is checked: case files, their arguments, inputs and references."""
