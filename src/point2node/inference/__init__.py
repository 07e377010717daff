"""Asking trained networks: votes, labelled scans, named shapes, explanations."""
