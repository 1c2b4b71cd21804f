"""What tries to refute a claim: distinguishing games, fuzzing, looks at the noise, mutants.

`eyelid.mechanisms` imports each mechanism module; the decorator `@register` puts the class into
the catalogue. `eyelid verify` walks the catalogue. It builds each mechanism as `set_for_games`
says (`games` at every unit) and

* plays the distinguishing game at that unit, and at the person level that its certificate would
  state;
* attacks the low-order digits of the output;
* fuzzes the declared sensitivity;
* releases a known table of 10 000 people with unequal recordings twice, takes the input off
  again, and looks whether what is left is fresh noise of the declared law everywhere: no repeats,
  the right spread at every position, uniform low bits, nothing missing;
* tests both integer samplers by chi-square at seven scales;
* plants faults that must be caught: for all, scale × 0.85, missing clip, a smaller unit's ε sold
  as a person's, noise reused over rows, features or people, a generator seeded anew, rows or low
  bits without noise, published gaps, the mean number of recordings; and those of a kind (float
  noise, noise on real parts only, missing √n, a choice of k that nobody paid for, a norm that is
  not clipped, windows counted for bins, noise of the mean on the sum, …).

Filters of streams are also run with chosen numbers in the place of their noise
(`verification/streams.py`): the outputs then show what every sample paid, whatever the filter
says of itself, and every window at every offset is added up; `fixations.py` does so for
`fixations`, `dwell.py` for counters at work.

How a mechanism is tried follows from the `family` that it declares, or inherits:
`verification/families.py` is the table from a family to its games, fuzz, looks and mutants. A
mutant (`mutant.py`) is data: a name, what is replaced in the sound mechanism, and the check that
must see it. Those of a family stand in its module, or beside it (`record_mutants.py`,
`group_mutants.py`, `stream_mutants.py`). A mechanism of no family but `differential` gets games
and the digit attack only, and does not pass until there are mutants of it. Those that say
themselves that they do not hold are played against, and nobody minds when they are refuted.

Promises without an ε are attacked by the audit's own attackers, on simulated participants
released again and again: `groups.py` names who is behind a record, looks for steps that one
member alone has made and for people who are together too often, and counts the people, values,
copies and rows of every group of `ksame`, and how often a person with a rare attribute is in a
larger group; `rows.py` finds people who are alone in a bin.

`synthetic` measures in rounds that depend on each other. Games play all of them at once;
`synthetic.py` searches the reach of all rounds after any noisy answers, looks at their noise
together, and makes participants of the same answers about two studies, which must ask and show
the same; `canaries.py` audits a whole run with 1000 canaries.

**What the folder shows** is compared where releases are made (`releases/consistency`), and
`eyelid verify` runs both. Small simulated studies and their neighbours are written to disk,
released by the same functions as the commands call, and the two folders compared place by place.
What a neighbour may differ in is what the mechanism declares (`may_differ`: recordings, lengths,
time stamps and losses). Compared are files, modes, parts, rows, schema, order, manifest,
certificate, card, people.csv, pictures, messages, refusals.

* `studies.py`: the small studies, and what a participant's data are replaced by; random ones for
  `proofs/whole_folder.py`
* `cases.py`: the releases of every mechanism: without settings, and some with
* `folder.py`: everything that a folder shows, by place, where two of them differ, and the one
  list of what may, each with its reason
* `comparison.py`: the comparison; the same random words for two releases, and zeros for people's
  numbers wherever these meet noise or a private choice; whether the sizes of groups tell who is
  in them
* `mutants.py`, `verification.py`: releases that show too much and must be caught, and all of it

Where noise is added to whole numbers, both folders are made of the same noise and no data: then
they must be the same byte for byte, released values and pictures too, but for the keyed
fingerprint. That leaves nothing but public facts that could make a difference. They are compared
with fresh noise as well, as are filters and `seeded`; then released values and what follows from
them are excepted. Of `ksame` two members of one group are exchanged. What claims nothing is
reported, and refutes nothing.
"""
