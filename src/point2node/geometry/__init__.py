"""Pure functions on coordinates: neighbours, sampling and the pyramid. Nothing here knows about networks."""
