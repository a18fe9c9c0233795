"""Tests of what lies outside: git, paths, caches, limits."""
