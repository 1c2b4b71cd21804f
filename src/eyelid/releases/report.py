"""The report: one HTML file that asks nothing of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyelid.releases.pictures import games_picture, gaze_picture, plane_picture
from eyelid.releases.rendering import rendered
from eyelid.version import __version__

if TYPE_CHECKING:
    from eyelid.releases.demo import Story


def report(story: Story) -> str:
    """The demo's story as a page."""
    from markupsafe import Markup

    people = story.features.data["person"].n_unique()
    tasks = story.features.data["task"].n_unique()
    return rendered(
        "report.html.j2",
        story=story,
        people=people,
        tasks=tasks,
        version=__version__,
        gaze=Markup(gaze_picture(story.study)),
        plane=Markup(plane_picture(story.attempts, people, tasks)),
        games=Markup(games_picture(story.verification.games)),
    )
