"""The report and its renderings."""
