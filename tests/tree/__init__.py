"""A repository in, a tree out."""
