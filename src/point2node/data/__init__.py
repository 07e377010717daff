"""Reading: files of every format, the datasets, and the way from a scene to batches."""
