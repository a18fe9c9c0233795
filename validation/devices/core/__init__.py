"""What the virtual devices share: memory, scheduler, checks, counters, host compiler, results."""
