"""Fused steps that every network here may use; one switch chooses between kernels and plain torch."""
