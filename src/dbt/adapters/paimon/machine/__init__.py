"""This machine: the installed Java and Python packages, private files, processes, addresses, and bounded waits."""
