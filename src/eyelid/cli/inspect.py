"""``eyelid inspect``: what is in there."""

from __future__ import annotations

from eyelid.cli.output import In, Json, print_json, print_table, say

EXAMPLES = """\b
Examples:
  eyelid inspect study
  eyelid inspect study --json"""


def run(source: In, as_json: Json = False) -> None:
    """Tell what a study holds, how good it is, who stands out, and what a release would take.

    The answer describes private data: it is for the owner's eyes.
    """
    from eyelid.io import read
    from eyelid.releases.inspection import inspect

    found = inspect(read(source))
    if as_json:
        print_json(found)
        return
    rate = found["rate_hz"]
    length = found["duration_s"]
    rows = [
        ("people", found["people"]),
        ("recordings", found["recordings"]),
        ("tasks", found["tasks"]),
        ("stimuli", found["stimuli"]),
        (found["kind"], f"{found['rows']:,} rows"),
        ("units", found["units"] or "–"),
        ("rows per second", "–" if not rate["measured"] else f"{rate['measured']:.4g}"),
        ("jitter", "–" if rate["jitter_ms"] is None else f"{rate['jitter_ms']:.3g} ms"),
        ("length of a recording", f"{length['shortest']:.0f} to {length['longest']:.0f} s"),
        ("attributes of people", ", ".join(found["attributes"]) or "none"),
        ("simulated", "yes" if found["simulated"] else "no"),
    ]
    print_table(str(source), ["what", "value"], rows)
    worst = sorted(found["quality"].items(), key=lambda item: -item[1])[:5]
    print_table("Missing", ["column", "share"], [(k[8:], f"{v:.1%}") for k, v in worst])
    if found["quasi_identifiers"]:
        alone = [
            (" + ".join(q["columns"]), q["people_alone"], q["smallest_group"])
            for q in found["quasi_identifiers"]
        ]
        print_table("Quasi-identifiers", ["what", "people alone", "smallest group"], alone)
    say(found["release"])
