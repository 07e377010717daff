"""What is wrong with a data set as it was downloaded, found without changing it."""
