"""The report: one document built once from the records of a run, and its renderings."""
