"""Fused operators for all networks; one switch chooses between kernels and plain torch."""
