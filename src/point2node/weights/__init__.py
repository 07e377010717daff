"""What a training leaves behind: settings, cards, run folders and the weights themselves."""
