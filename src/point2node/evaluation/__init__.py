"""Scores: which data, by which protocol, and what came out."""
