"""Compiled kernels: compiling, caching, calling them from torch, and switching them off."""
