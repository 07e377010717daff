"""The ``point2node`` command: collects the subcommands and prints errors that users can fix as one line."""

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

# torch and numba each have a pool of OpenMP threads. By default an idle thread spins for milliseconds on a core that
# the other pool, or another program, needs next; without any spin it is slow to wake up. A short spin works best.
# OpenMP reads this when torch is imported, which the commands do later.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")


GLOBAL_OPTIONS = ("--quiet", "--verbose")


class OneLineErrors(typer.core.TyperGroup):
    """A group of commands that prints an InputError as one line and exits with code 2, or 1 for a lost process."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept the global options after a command, too."""
        global_options = [word for word in args if word in GLOBAL_OPTIONS]
        return super().parse_args(ctx, global_options + [word for word in args if word not in GLOBAL_OPTIONS])

    def invoke(self, ctx: Any) -> Any:
        """Run the command and print errors that users can fix as one line."""
        if isinstance(sys.stdout, io.TextIOWrapper):  # file names may contain undecodable bytes
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
            hint = "the last checkpoint is intact; start the processes again, 'train' with --resume RUN"
            print(f"point2node: a training process died; {hint}. ({error})", file=sys.stderr)
            raise typer.Exit(code=1) from None


class PlainUsage(typer.core.TyperCommand):
    """A command whose usage line shows its arguments exactly as their metavars say, without extra brackets."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the options, then the arguments."""
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
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only results and errors, no progress or notes.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print a traceback with errors.")] = False,
) -> None:
    """Point2Node: label 3-D point clouds by correlating dynamic nodes.

    Example: point2node predict scan.laz
    """
    set_quiet(quiet)


COMMANDS: tuple[tuple[Callable[..., None], str], ...] = (
    (demo, "Label a generated room with the pretrained model."),
    (predict, "Label every point of scans."),
    (classify, "Classify single objects, such as a chair."),
    (objects, "List furniture, doors, windows … of a labelled scan."),
    (plan, "Draw the floor plan of a labelled room."),
    (view, "Label, explain and correct scans in the browser."),
    (train, "Train a network."),
    (adapt, "Fit pretrained weights to your own unlabelled scans."),
    (evaluate, "Score trained weights."),
    (calibrate, "Calibrate the confidence of a run's weights."),
    (export, "Export a trained network to ONNX."),
    (ablate, "Train and score every variant with every seed."),
    (report, "Compare runs with each other and with the paper."),
    (presets, "List the presets, or explain the settings of one."),
    (models, "List models, sizes and variants with parameter counts."),
    (prepare, "Convert a data set to a store for training."),
    (doctor, "Check a data set, or the installation."),
    (warmup, "Compile the kernels that 'predict' needs."),
)
for _function, _summary in COMMANDS:
    app.command(cls=PlainUsage, short_help=_summary)(_function)
