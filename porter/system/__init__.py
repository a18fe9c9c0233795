"""What lies outside: processes, git, folders, caches."""
