"""The report: one HTML file that asks nothing of the network."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from eyelid.privacy.guarantee import rounded_up
from eyelid.releases.pictures import games_picture, gaze_picture, plane_picture
from eyelid.releases.words import number, promise
from eyelid.version import __version__

if TYPE_CHECKING:
    from eyelid.releases.demo import Story


def report(story: Story) -> str:
    """The demo's story as a page."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    text = resources.files("eyelid.releases").joinpath("templates/report.html.j2")
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True
    )
    people = story.features.data["person"].n_unique()
    tasks = story.features.data["task"].n_unique()
    return environment.from_string(text.read_text("utf-8")).render(
        story=story,
        people=people,
        tasks=tasks,
        version=__version__,
        promise=promise,
        number=number,
        rounded_up=rounded_up,
        gaze=Markup(gaze_picture(story.study)),
        plane=Markup(plane_picture(story.attempts, people, tasks)),
        games=Markup(games_picture(story.verification.games)),
    )
