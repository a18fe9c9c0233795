"""The merge gate."""
