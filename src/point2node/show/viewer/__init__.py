"""The local web app: a scan in 3-D with its labels and their explanations. Only this package imports viser."""
