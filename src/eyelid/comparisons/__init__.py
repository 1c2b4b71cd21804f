"""Which release is the right one: mechanisms side by side, and the best for the user's goals.

`eyelid.comparisons.compare.compare` measures many releases of the same people and makes none.

1. **Settings** (`settings.py`): every mechanism with every combination of ε and swept parameters
   that it has.
2. **Plan.** `releases/kinds/features/plan.py` gives each its guarantee and a person's total from
   public facts, as for a release; what cannot be planned is skipped with the reason.
3. **Runs** (`releases/audits/kinds.py`, by the same table as audits; `attacks/outcome.py`). Each
   setting is run, attacked and used, `repeats` times. Individual records, groups and releases
   without no person's record are each asked in the way that is fair to them; for the last
   `attacks/utility.py` runs the mechanism again without those who are tested. Every run has a seed
   of its own, made of its name: neither order nor cores matter.
4. **On all cores** (`engine/cores.py`), or on Dask. Attacks spend long in Python, so threads
   would wait for each other. The data are sent once to each worker. Workers have one core each,
   and leave when the process that gave them work is killed.
5. **Journal** (`journal.py`). One line a run, appended as it ends, under a lock; the file's name
   is a digest of data, questions, settings and version. A cut line is thrown away.
6. **Table, plane, page** (`reporting/comparisons`: `comparison.py`, `scene.py`, `page.py`; words in
   `words.py`). Limits are over people and runs; a box on the plane is two 97.5% intervals.

`eyelid.comparisons.recommend.recommend` reads `goals.py`, takes what is publicly known of a study
(`facts.py`), lists candidates that hold (`candidates.py`), and measures them on synthetic
participants with the same facts; `verdicts.py` holds them against the goals. On own data blocks of
people vote (`private_choice.py`, which is a mechanism: proof note, fuzz, game), and the ledger is
debited before anything runs.
"""
