"""Scores: which data they are measured on, the protocol, and the results."""
