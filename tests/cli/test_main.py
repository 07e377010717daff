import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from point2node import __version__
from point2node.cli.main import OneLineErrors, app
from point2node.core.errors import InputError, LostProcessError

COMMANDS = [[], *([command.name or command.callback.__name__] for command in app.registered_commands)]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(command):
    result = CliRunner().invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    assert "Example: point2node" in result.output


def test_no_help_waits_for_torch_numba_or_matplotlib():
    program = (
        "import sys\nfrom typer.testing import CliRunner\nfrom point2node.cli.main import app\n"
        f"for command in {COMMANDS}:\n    assert CliRunner().invoke(app, [*command, '--help']).exit_code == 0\n"
        "sys.exit(', '.join({'torch', 'numba', 'numpy', 'matplotlib'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.stderr == "\n"  # the exit message: what was imported


def test_the_version_is_printed():
    assert CliRunner().invoke(app, ["--version"]).output == f"point2node {__version__}\n"


def test_python_dash_m_is_the_same_command():
    done = subprocess.run([sys.executable, "-m", "point2node", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"point2node {__version__}\n"


def run_command_that_raises(error):
    refusing = typer.Typer(cls=OneLineErrors)

    @refusing.callback()
    def group():
        pass

    @refusing.command()
    def label():
        raise error

    return CliRunner().invoke(refusing, ["label"])


def test_an_input_error_is_one_line_on_stderr_and_exit_code_2():
    result = run_command_that_raises(InputError("scan.ply", expected="points", found="none", remedy="Scan again."))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "point2node: scan.ply: expected points, found none. Scan again.\n"


def test_a_lost_process_is_one_line_on_stderr_and_exit_code_1():
    result = run_command_that_raises(LostProcessError("Connection closed by peer"))
    assert result.exit_code == 1
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("point2node: a training process died; the last checkpoint is intact")
    assert line.endswith("(Connection closed by peer)")


def interrupted_kernel():
    """What comes out of compiled code in which Ctrl+C was pressed."""
    error = SystemError("returned a result with an exception set")
    error.__cause__ = KeyboardInterrupt()
    return error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), interrupted_kernel()])
def test_an_interruption_is_one_line_on_stderr_and_exit_code_130(error):
    result = run_command_that_raises(error)
    assert result.exit_code == 130
    assert result.stderr == "point2node: stopped\n"


def test_the_summary_of_every_command_fits_a_line():
    listed = CliRunner().invoke(app, ["--help"]).output.split("Commands:\n")[1].splitlines()
    assert len(listed) == len(COMMANDS) - 1
    assert all(len(line) < 80 and line.endswith(".") and not line.endswith("...") for line in listed)


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_usage_shows_arguments_as_they_are_typed(command):
    usage = CliRunner().invoke(app, [*command, "--help"]).output.splitlines()[0]
    assert "{" not in usage
    assert "[[" not in usage


@pytest.mark.parametrize("words", [["--verbose", "presets", "nothing"], ["presets", "nothing", "--verbose"]])
def test_verbose_tells_where_an_error_was_raised_before_its_line(words):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback")
    assert result.stderr.splitlines()[-1].startswith("point2node: preset")
