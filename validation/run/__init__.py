"""Running cases: what runs where, in child processes with a clock."""
