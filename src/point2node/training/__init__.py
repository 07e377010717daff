"""Training and adapting networks."""
