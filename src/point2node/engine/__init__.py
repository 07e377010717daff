"""Training and scoring: settings, the training loop, checkpoints, votes, metrics, evaluation."""
