"""Tests of cases, comparing and verdicts."""
