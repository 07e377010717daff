"""The networks to compare with, each in one file, from its own paper."""
