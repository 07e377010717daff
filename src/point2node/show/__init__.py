"""Showing scans: pages, pictures, plans, lists of objects and the viewer."""
