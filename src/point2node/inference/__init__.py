"""Running trained networks: votes, labelled scans, classified shapes, explanations."""
