"""Furniture and clutter: one file per class, one function per style."""
