"""The local web app: a scan in 3-D with its labels, and why a point has its own. Only this package knows viser."""
