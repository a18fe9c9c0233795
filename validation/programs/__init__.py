"""Whole programs on the virtual devices: drop-in runtime libraries, their translator, and what runs and compares."""
