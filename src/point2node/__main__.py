"""``python -m point2node`` is ``point2node``."""

from point2node.cli.main import app

app()
