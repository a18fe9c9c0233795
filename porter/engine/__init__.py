"""One file: the unit that rules see, the rules, their edits, and passes to a fixed point."""
