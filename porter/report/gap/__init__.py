"""The gap report: what is done and left per kernel, with the evidence, from whatever JSON there is."""
