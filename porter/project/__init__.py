"""A tree: what is in it, what is to be done, by whom, and what is written."""
