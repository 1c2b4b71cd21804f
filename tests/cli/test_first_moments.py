"""What a command prints besides its own words: nothing, from its first moment on."""

import os
import signal
import subprocess
import sys

import pytest

CHILD = """
import os, signal, sys, warnings

class Meanwhile:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            {what}

sys.meta_path.insert(0, Meanwhile())
from eyelid.cli import main
sys.argv[1:] = {words!r}
main()
"""
WARNING = 'warnings.warn("\\x1b[2Jsafe to share", RuntimeWarning)'
IN_A_CHILD = (
    "import subprocess; subprocess.run([sys.executable, '-c', "
    "'import warnings; warnings.warn(\"strange\", RuntimeWarning)'])"
)


def ran(module, what, *words, **environment):
    code = CHILD.format(module=module, what=what, words=list(words))
    command = [sys.executable, "-P", "-c", code]
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONWARNINGS"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=inherited | environment
    )


@pytest.mark.skipif(os.name == "nt", reason="no process sends itself Ctrl-C there")
@pytest.mark.parametrize("module", ["typer", "eyelid.cli.verify"])
def test_ctrl_c_while_modules_are_imported_is_one_line_and_130(module):
    done = ran(module, "os.kill(os.getpid(), signal.SIGINT)", "--help")
    assert (done.returncode, done.stdout) == (128 + signal.SIGINT, "")
    assert done.stderr.startswith("eyelid: stopped; nothing is half-written")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("what", [WARNING, IN_A_CHILD], ids=["here", "in a child"])
def test_warnings_of_libraries_do_not_reach_the_terminal(what):
    done = ran("eyelid.mechanisms", what, "mechanisms", "laplace")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_warnings_of_libraries_are_shown_on_one_line_where_they_are_asked_for():
    done = ran("eyelid.mechanisms", WARNING, "mechanisms", "laplace", EYELID_DEBUG="1")
    assert done.returncode == 0
    assert done.stderr.startswith("eyelid: RuntimeWarning: \\x1b[2Jsafe to share (")
    assert done.stderr.count("\n") == 1
