"""What a run came to: comparing, judging, timing, reporting. Pure."""
