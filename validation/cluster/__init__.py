"""The tasks of a run on this machine's cores or on a cluster's workers, with their results in one store."""
