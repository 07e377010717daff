"""The data sets, the prepared store, and the way from a scene to batches."""
