"""The live gatekeeper: raw gaze in, private gaze out, and what it costs.

>>> from eyelid.stream import Gatekeeper
>>> Gatekeeper.__name__
'Gatekeeper'

**Filters** are mechanisms in `mechanisms/streams`. A `StreamMechanism` has a public `Scene` and
`start(noise)`, which gives a `Run`: one sample in, one out, a fixed memory. A `Filter` promises
(ε, w, radius); a `Baseline` of `papers` promises nothing.

* **The scene is a plane** (`scene.py`). Directions are seen from the front, which moves no two of
  them apart: noise on a tangent plane at the gaze itself would depend on it. Gaze is put on a
  public grid, and rounding is counted in the reach.
* **Budgets are whole numbers**, 2³² parts of ε, so that sums over sliding windows are exact.
* **One kernel for all schedulers** (`schedule.py`; `fixations` has its own, `detector.py`): a
  plain function on lists for single samples, the same on lists or, compiled by numba (extra
  `fast`), on arrays for many. Noise is drawn ahead in blocks of one size (`draws.py`), so that
  all three give the same stream.
* **`fixations`** releases cells or areas and events, and remembers m raw samples: its budgets run
  over w + m − 1. **`dwell`** tells sums again and again (`dwell.py`, `square_root.py`) and is
  no filter. Baselines (`papers/baselines`) promise nothing.

**The gatekeeper** (`stream/gatekeeper.py`) puts a filter between a tracker and an app.
`passage.py` cuts time into stretches of samples under one mode; between them it decides: write
down what comes next (`budget.py`, before it is released), stop at a limit, go on with a smaller
ε. After a kill or a change of settings w − 1 samples pass without anything new, so that no window
has samples of two accounts; what earlier settings promised is converted to the present ones. Left
in order, it goes on as if nothing had happened. `tiers.py` puts events and counters beside a
filter, all of them within its ε; to the gatekeeper they are a filter like any other. Nobody asks
for a filter's class: it declares whether it is `guaranteed`, `eventful`, `counting`, and
`resumes`.

`session.py` puts together what the command asks for, and `pump.py` carries samples from a source
through the gatekeeper to sinks (`endpoints.py`, by their addresses: `addresses.py`). Both sides
of a transport stand in one module: `websocket.py` on `connections.py`, `lsl.py`; `replay.py`
plays recordings, `recorder.py` writes what is released. `RawGaze` and `ReleasedGaze` are two
types, and sinks take the second only. `intake.py` refuses what no tracker sends; each consumer
has a `Backlog` that drops the oldest; messages are in `frames.py`, tokens, origins and
connections without a token in `access.py`, what people read in `view.py` and `words.py`.

`eyelid release` runs the same filters over recordings (`releases/kinds/streams`).
"""

from eyelid.stream.gatekeeper import Gatekeeper, GazeEvent, Meter

__all__ = ["Gatekeeper", "GazeEvent", "Meter"]
