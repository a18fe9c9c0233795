"""Where the warp size hides in a file: a small syntax tree of device code, data flow, classes with evidence."""
