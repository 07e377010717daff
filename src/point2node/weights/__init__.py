"""The output of a training: settings, cards, run folders and the weights themselves."""
