"""What is known about porting: one file per rule, one table row per name."""
