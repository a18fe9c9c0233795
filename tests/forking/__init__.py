"""Processes of porter that are forks of one that has read its modules, which is most of what a start takes."""
