"""The ``point2node`` command: gathers the commands and turns errors that a person can fix into one line."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable
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
from point2node.cli.presets import presets
from point2node.cli.progress import set_quiet
from point2node.cli.report import report
from point2node.cli.train import train
from point2node.cli.view import view
from point2node.cli.warmup import warmup
from point2node.core.errors import InputError, LostProcessError, is_interruption

# torch and numba each bring a pool of OpenMP threads. By default an idle thread spins for milliseconds, on the very
# cores that the other pool, or another program, needs next; asleep at once, it is slow to wake. A short spin is best.
# OpenMP reads this when torch is imported, which the commands do later.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")


ANYWHERE = ("--quiet", "--verbose")


class OneLineErrors(typer.core.TyperGroup):
    """Commands whose InputErrors become one line on stderr and exit code 2; a lost process, exit code 1."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What holds for all commands may stand behind a command, too."""
        ours = [word for word in args if word in ANYWHERE]
        return super().parse_args(ctx, ours + [word for word in args if word not in ANYWHERE])

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what a person can fix is said in one line."""
        if isinstance(sys.stdout, io.TextIOWrapper):  # names of files may hold what no encoding has
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except InputError as error:
            if ctx.params.get("verbose"):
                traceback.print_exc()
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


class PlainUsage(typer.core.TyperCommand):
    """A command whose usage shows its arguments as they were named, without further brackets."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Options, then arguments."""
        arguments = [one for one in self.get_params(ctx) if one.param_type_name == "argument"]
        return ["[OPTIONS]", *(one.metavar or str(one.name).upper() for one in arguments)]


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
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes: only results and errors.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="With an error, also where it was raised.")] = False,
) -> None:
    """Point2Node: label 3-D point clouds by correlating dynamic nodes.

    Example: point2node predict scan.laz
    """
    set_quiet(quiet)


COMMANDS: tuple[tuple[Callable[..., None], str], ...] = (
    (demo, "Label a generated room with the pretrained model."),
    (predict, "Label every point of scans."),
    (classify, "Name single objects, such as a chair."),
    (objects, "List the furniture, doors, windows … of a labelled scan."),
    (plan, "Draw the floor plan of a labelled room."),
    (view, "Label, explain and correct scans in the browser."),
    (train, "Train a network."),
    (adapt, "Fit pretrained weights to your own unlabelled scans."),
    (evaluate, "Score trained weights."),
    (calibrate, "Calibrate the confidence of a run's weights."),
    (export, "Export a trained network to ONNX."),
    (ablate, "Train and score every variant with every seed."),
    (report, "Compare runs with each other and with the paper."),
    (presets, "Show the presets, and what each of their settings means."),
    (models, "List models, sizes and variants with their parameters."),
    (prepare, "Turn a data set into a store."),
    (doctor, "Examine a data set."),
    (warmup, "Compile the kernels that 'predict' needs."),
)
for _function, _summary in COMMANDS:
    app.command(cls=PlainUsage, short_help=_summary)(_function)
