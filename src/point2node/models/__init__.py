"""The networks, and the catalogue of their sizes."""
