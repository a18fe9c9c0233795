"""Rules about tensor cores."""
