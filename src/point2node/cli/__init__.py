"""The command line: one file per command; a command parses, calls a few functions and prints."""
