"""The command line as users meet it."""
