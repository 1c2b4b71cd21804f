"""Word-level reading measures, as the Copenhagen corpus (CopCo) publishes them.

A row a word: ``part`` (the person), ``trialId``, the ids of speech, paragraph, sentence and word,
the word itself and what was measured on it. The measures become features without bounds: they can
be released once the user gives bounds. The word and its characters are stimulus and are not kept.
"""

from __future__ import annotations

import math
from dataclasses import replace

from eyelid.gaze.study import Feature
from eyelid.io.files import Head
from eyelid.io.layout import Layout
from eyelid.io.part import Part
from eyelid.io.raw_tables import header_of
from eyelid.io.tables import read_table

NAME = "CopCo reading measures"

_KEYS = {
    "person": "part",
    "recording": "trialId",
    "stimulus": "speechId",
    "label_paragraph_id": "paragraphId",
    "label_sentence_id": "sentenceId",
    "label_word_id": "wordId",
}
_MEASURES = {
    "landing_position": ("characters", "where in the word the first fixation was"),
    "word_first_fix_dur": ("ms", "duration of the first fixation on the word"),
    "word_first_pass_dur": ("ms", "sum of the fixations before the word was first left"),
    "word_go_past_time": ("ms", "time until the word was first left to the right"),
    "word_mean_fix_dur": ("ms", "mean duration of the fixations on the word"),
    "word_total_fix_dur": ("ms", "sum of the fixations on the word"),
    "number_of_fixations": ("", "fixations on the word"),
    "word_mean_sacc_dur": ("ms", "mean duration of the saccades to the word"),
    "word_peak_sacc_velocity": ("deg/s", "peak velocity of the saccades to the word"),
}
_NO_TIME = "time_ms is the place of a word in the order of its trial, no time"


def recognises(head: Head) -> bool:
    """Whether the header has the ids of words and at least one measure."""
    names = set(header_of(head))
    return set(_KEYS.values()) <= names and bool(names & set(_MEASURES))


def read(head: Head, said: Layout) -> Part:
    """The measures of every word."""
    header = header_of(head, said.separator)
    features = tuple(
        Feature(name, unit, definition, -math.inf, math.inf)
        for name, (unit, definition) in _MEASURES.items()
        if name in header
    )
    layout = Layout(
        format=NAME,
        columns=_KEYS | {feature.name: feature.name for feature in features},
        kind="features",
        # Words are counted, a millisecond each.
        rate_hz=1000.0,
        features=features,
    )
    part = read_table(head, layout.under(said))
    return replace(part, rate_hz=None, notes=(_NO_TIME,))
