"""The ``point2node`` command: gathers the commands and turns errors that a person can fix into one line."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any

import typer

from point2node._version import __version__
from point2node.cli.ablate import ablate
from point2node.cli.adapt import adapt
from point2node.cli.calibrate import calibrate
from point2node.cli.classify import classify
from point2node.cli.demo import demo
from point2node.cli.doctor import doctor
from point2node.cli.evaluate import evaluate
from point2node.cli.export import export
from point2node.cli.models import models
from point2node.cli.objects import objects
from point2node.cli.plan import plan
from point2node.cli.predict import predict
from point2node.cli.prepare import prepare
from point2node.cli.report import report
from point2node.cli.train import train
from point2node.cli.view import view
from point2node.cli.warmup import warmup
from point2node.core.errors import InputError, LostProcessError, is_interruption

# torch and numba each bring a pool of OpenMP threads. By default an idle thread spins for milliseconds, on the very
# cores that the other pool, or another program, needs next; asleep at once, it is slow to wake. A short spin is best.
# OpenMP reads this when torch is imported, which the commands do later.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")


class OneLineErrors(typer.core.TyperGroup):
    """Commands whose InputErrors become one line on stderr and exit code 2; a lost process, exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what a person can fix is said in one line."""
        if isinstance(sys.stdout, io.TextIOWrapper):  # names of files may hold what no encoding has
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except InputError as error:
            print(f"point2node: {error}", file=sys.stderr)
            raise typer.Exit(code=2) from None
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interruption(error):
                raise
            print("point2node: stopped", file=sys.stderr)
            raise typer.Exit(code=130) from None
        except LostProcessError as error:
            hint = "the last checkpoint is whole; start the processes again, 'train' with --resume RUN"
            print(f"point2node: a training process died; {hint}. ({error})", file=sys.stderr)
            raise typer.Exit(code=1) from None


app = typer.Typer(cls=OneLineErrors, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"point2node {__version__}")
        raise typer.Exit


@app.callback()
def point2node(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Point2Node: label 3-D point clouds by correlating dynamic nodes.

    Example: point2node models --json
    """


app.command()(demo)
app.command()(predict)
app.command()(classify)
app.command()(objects)
app.command()(plan)
app.command()(models)
app.command()(prepare)
app.command()(doctor)
app.command()(train)
app.command()(adapt)
app.command()(evaluate)
app.command()(calibrate)
app.command()(export)
app.command()(ablate)
app.command()(report)
app.command()(view)
app.command()(warmup)
