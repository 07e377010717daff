"""Scans to look at: pages, pictures, plans, lists of objects and the viewer."""
