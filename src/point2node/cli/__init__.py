"""The command line: one file per command, which parses arguments, calls a few functions and prints."""
