"""Reading and writing recordings: one module per format.

`eyelid.io.reading.read` is the one door. A folder is a study folder, a dataset that a module of
`FOLDERS` knows, or many files; a file goes to the first module of `io/formats` that recognises
its content (`Head`: the first 64 KiB).

* A format module gives a **`Part`**: the table of one file, with units, rate and screen as far as
  they are stated.
* For most formats that is a **`Layout`** (from roles to columns) handed to `io/tables.py`
  (`io/raw_tables.py` reads the cells). A person's `--map` is a `Layout` too, laid over the
  format's own: what formats know and what people say is one thing.
* A table of measures has no content to recognise: a file says which columns are features, with
  public bounds (`io/feature_tables.py`), and `formats/any_table.py` reads it whatever else it
  looks like.
* `io/recordings.py` gives rows their person, recording, task and stimulus (columns, then
  the user's pattern or list, then the format's own rule for names) and makes one `Study` of many
  parts. It refuses to guess people.
* Files may be others': whatever lies in an input folder is opened by `engine/files.py`, which
  refuses pipes and devices and, of descriptions, large files. Parquet is opened in
  `io/parquet.py` alone, measured by `io/parquet_outline.py` before; study.json is read and
  checked in `io/study_json.py`, packed files in `io/files.py`, text for spreadsheets is written
  by `io/csv_cells.py`. How others' text reaches a terminal, a page or Markdown is said in
  `spelling.py`, and done where it is printed (`cli/output.py`) or rendered
  (`reporting/rendering.py`).
* `io/release_folder.py` decides what is a release, for everything that is read: a certificate
  that can be read, whose hash is that of the data. What a study says of itself without a
  certificate is kept with a remark.
* `io/leaks.py` knows what a leak looks like, `io/quasi_identifiers.py` what singles participants
  out, `io/file_leaks.py` looks into a file, `io/study_leaks.py` into a study, out of which it
  takes what it found, `io/lint.py` into whatever the user points at, `io/intake.py` puts reading,
  ledger and pseudonyms together for those who start from recordings.
* `convert` takes folders larger than memory. `io/many_files.py` reads each file once and keeps
  its rows in the scratch of the run; an **excerpt** (`io/study_leaks.py`: a few rows by which
  everything is decided as by all of them) comes back. Excerpts are joined like whole files,
  `planned` decides once what goes (`ScrubPlan`), the ledger gives pseudonyms, and pieces are cut
  in the order of the new names. Workers then scrub and write a piece each. A test holds excerpts
  against whole studies.

Two eyes are rows of their own (`eye`), so that every column keeps its meaning; `events` chooses
one eye per recording.
"""

from eyelid.io.reading import read
from eyelid.io.study_folder import write

__all__ = ["read", "write"]
