"""Mechanisms of other packages come by entry points, and a broken one takes nothing away."""

import json
import re
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from eyelid.engine.cores import alone
from eyelid.errors import EyelidWarning
from eyelid.io import write
from eyelid.mechanisms import catalogue, entry_points, find, mechanism_named

ROOT = Path(__file__).parents[2]
registry = sys.modules["eyelid.mechanisms.mechanism"]

ECHO = """
    from dataclasses import dataclass
    from typing import ClassVar

    from eyelid.mechanisms.records.laplace import Laplace
    from eyelid.mechanisms.mechanism import register
    from eyelid.mechanisms.proof_note import ProofNote


    @register
    @dataclass(frozen=True)
    class Echo(Laplace):
        note: ClassVar[ProofNote] = ProofNote(
            summary="s", takes="t", protects="p", why="w", paper="p"
        )
        name: ClassVar[str] = "{name}"
        aliases: ClassVar[tuple[str, ...]] = ({alias})
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package with one module that brings mechanisms; the catalogue looks again."""
    catalogue()
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    monkeypatch.setattr(registry, "_aliases", dict(registry._aliases))
    monkeypatch.setattr(registry, "_completed", [])
    monkeypatch.syspath_prepend(tmp_path)

    def install(package, source, value=None):
        if source is not None:
            (tmp_path / f"{package}.py").write_text(textwrap.dedent(source))
            monkeypatch.delitem(sys.modules, package, raising=False)
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        point = f"[eyelid.mechanisms]\nsome = {value or package}\n"
        (info / "entry_points.txt").write_text(point)

    yield install
    for module in [name for name in sys.modules if name.startswith("others_")]:
        del sys.modules[module]


def test_eyelid_s_own_are_in_its_metadata_and_the_other_way_round():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert sorted(project["entry-points"][entry_points.GROUP].values()) == sorted(entry_points.OWN)


def test_a_package_that_is_installed_brings_its_mechanism(installed):
    installed("others_echo", ECHO.format(name="echo", alias='"again",'))
    assert find("echo").__module__ == "others_echo"
    assert mechanism_named("again", epsilon=1.0).name == "echo"
    assert {"echo", "laplace", "lpa-paper", "kalman"} <= set(catalogue())


def test_an_entry_point_may_name_the_class(installed):
    installed("others_echo", ECHO.format(name="echo", alias=""), "others_echo:Echo")
    assert "echo" in catalogue()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import not_installed_anywhere", "No module named 'not_installed_anywhere'"),
        ("raise RuntimeError('on\\n two lines')", "RuntimeError: on two lines"),
        (ECHO.format(name="laplace", alias=""), "there is a mechanism 'laplace' already"),
        (ECHO.format(name="echo", alias='"gaussian",'), "a mechanism 'gaussian' already"),
        (ECHO.format(name="lpa-paper", alias=""), "in eyelid.papers.bozkir2021.mechanisms"),
        (ECHO.format(name="echo", alias="") + "\n    1 / 0", "division by zero"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_broken_package_is_left_out_with_a_line_that_names_it(installed, source, reason):
    before = dict(sorted(registry._registry.items()))
    installed("others_broken", source)
    with pytest.warns(EyelidWarning, match=r"^the mechanisms of others_broken .*are left out") as w:
        assert catalogue() == before
    assert reason in str(w[0].message)
    assert "\n" not in str(w[0].message)
    assert len(w) == 1


def test_a_broken_package_takes_away_no_package_that_it_imports(installed):
    installed("others_echo", ECHO.format(name="echo", alias='"again",'))
    installed("others_broken", "import others_echo\n1 / 0")
    with pytest.warns(EyelidWarning, match="others_broken"):
        assert find("again").name == "echo"


def test_a_name_of_a_paper_is_taken_before_anybody_has_asked_for_it(installed):
    import_echo = textwrap.dedent(ECHO.format(name="pink", alias=""))
    with pytest.raises(ValueError, match="there is a mechanism 'pink' already"):
        exec(import_echo, {"__name__": "others_early"})
    assert find("pink").__module__.startswith("eyelid.papers")
    assert "jitter" in catalogue()


def test_an_inherited_alias_is_its_base_s(installed):
    installed("others_echo", ECHO.format(name="echo", alias="").rpartition("aliases")[0])
    assert "echo" in catalogue()
    assert find("lpa").name == "laplace"


def test_metadata_without_a_module_are_left_out_as_well(installed):
    installed("others_broken", "", "no.such-module here")
    with pytest.warns(EyelidWarning, match="others_broken"):
        assert "laplace" in catalogue()


def test_own_mechanisms_do_not_need_fresh_metadata(installed, monkeypatch):
    """A checkout that was installed before an entry point was written loses nothing."""
    monkeypatch.setattr(entry_points, "entry_points", lambda group: ())
    assert [module for module, _ in entry_points.modules()] == list(entry_points.OWN)


def test_what_metadata_of_another_eyelid_say_is_passed_over(installed):
    installed("eyelid", None, "eyelid.mechanisms.papers")
    assert "eyelid.mechanisms.papers" not in dict(entry_points.modules())
    assert "lpa-paper" in catalogue()


def test_a_module_that_looks_at_the_catalogue_on_its_way_sees_what_is_there(installed):
    source = "from eyelid.mechanisms import catalogue\nassert 'laplace' in catalogue()\n"
    installed("others_curious", source)
    assert "laplace" in catalogue()


PAGE = (ROOT / "docs" / "own-mechanism.md").read_text("utf-8")


def block(language):
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


def test_the_example_of_the_page_is_known_to_every_command(
    installed, eyelid, make_table, tmp_path, monkeypatch, quick_audits, no_samplers
):
    """One module and one entry point, and no line more."""
    (value,) = tomllib.loads(block("toml"))["project"]["entry-points"][entry_points.GROUP].values()
    installed(value, block("python"))
    write(make_table(people=6, recordings=2, rows=40).study(), tmp_path / "study")
    monkeypatch.chdir(tmp_path)
    said = {}
    for line in block("console").splitlines():
        _, command, *rest = line.split()
        with alone():
            done = eyelid(command, *rest, *(["--json"] if command in ("verify", "compare") else []))
        assert done.code == 0, f"{line}: {done.err}"
        said[command] = done.out
    assert "rows that share one mean" in said["mechanisms"]
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["mechanism"]["name"] == "stretches"
    assert certificate["guarantee"]["holds"] is True
    assert {"stretches", "laplace"} <= {
        row.get("mechanism") for row in json.loads(said["compare"])["rows"]
    }
    verified = json.loads(said["verify"])
    assert {game["name"] for game in verified["mechanisms"]} == {"stretches"}
    planted = [fault for fault in verified["planted"] if fault["mechanism"] == "stretches"]
    assert len(planted) >= 5
    assert all(fault["caught"] for fault in planted)
