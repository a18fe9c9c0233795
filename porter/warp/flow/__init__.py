"""Walks over functions: in which control flow each warp-wide operation stands, and what values lanes hold."""
