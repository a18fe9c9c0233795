"""One source for both vendors: what a port changes, turned into a header for AMD builds and guarded edits."""
