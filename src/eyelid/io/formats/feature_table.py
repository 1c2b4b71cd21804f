"""Any csv, tsv or Parquet table of which somebody says which columns are features.

A row is a trial, a sentence, a word or whatever was measured; the features come from a file with
their public bounds (`eyelid.io.feature_tables`). No content is recognised: somebody says so.
"""

from __future__ import annotations

from dataclasses import replace

from eyelid.errors import InputError
from eyelid.io.feature_tables import read_feature_table
from eyelid.io.files import Head
from eyelid.io.formats import any_table
from eyelid.io.layout import KEYS, Layout
from eyelid.io.part import Part
from eyelid.io.raw_tables import header_of

NAME = "table of features"


def read(head: Head, said: Layout) -> Part:
    """The table, with keys by their usual names where the map says nothing."""
    if not any_table.recognises(head):
        raise InputError(f"{head.path} is no table: features come from csv, tsv or Parquet")
    names = header_of(head, said.separator) if said.header is not False else []
    taken = {*said.feature_columns.values(), *said.attributes, *said.columns.values()}
    usual = any_table.usual_layout(names).columns
    keys = {role: name for role, name in usual.items() if role in KEYS and name not in taken}
    return read_feature_table(head, replace(said, columns={**keys, **said.columns}))
