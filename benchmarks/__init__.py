"""Ratios against naive twins and against what users would pick instead; never timed asserts."""
