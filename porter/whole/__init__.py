"""`porter all`: port, build, draft, validate, report, one after the other in one folder."""
