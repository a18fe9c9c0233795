"""What is put into other people's CI."""
