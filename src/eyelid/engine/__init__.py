"""Who works, and how results are written: processes, Dask, atomic output, runs that resume.

`docs/scaling.md` says how to use it and what it costs.

* **Engines** (`engine/engines.py`). Whatever maps over many items calls `as_done`, `spread` or
  `each_piece`, which ask the engine of the moment (`using("dask")`): processes of this machine,
  or a Dask cluster. Large things go to each worker that asks for them (`shared`), through pipes.
  Children never import from the current folder (`engine/children.py`). Items of killed workers
  are given to others, so work may be done twice. One item alone is done here, without processes.
* **Pieces** (`io/pieces.py`). `in_pieces` looks at a study's keys and cuts it into whole people,
  by numbers of rows alone: the same pieces from memory, from one file, from a folder of parts,
  for any engine and number of workers. A piece is a `Study` like any other when it is read.
* **What is the same for everybody is settled before the map**: units, features, bounds, shape,
  grid, budget. Each piece has its own stream of noise (`stream_of`). What is reduced is integers,
  or lists in the order of pieces: nothing depends on who was done first.
* **Runs** (`engine/runs.py`). Parts are written into `.NAME.unfinished/output`, each once: a
  draft in `scratch`, then a link, which never replaces. So a part that two workers have made, or
  one before a kill and one after it, has one draw of noise. The run's id is the ledger's key: a
  run is debited once, however often it goes on. Its key is a digest of input, settings and
  version; another key is refused. What a run keeps for itself is JSON, Parquet and plain arrays
  (`releases/kinds/features/preparation.py`), never a pickle. A lock keeps a second run out. At
  the end private scratch is removed, then one rename.
* **Manifest**: study.json lists the parts with their SHA-256. It is written last, and checked
  before anything is read or paid.
"""
