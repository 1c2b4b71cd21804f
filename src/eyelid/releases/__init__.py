"""From a table to files a person can hand over: plan, run, certificate, data card, report.

Every release, of features, gaze or maps, runs in one order, which `releases/pipeline.py` has once
(`carried_out`). A kind of release (`releases/kinds/features`, `streams`, `maps`) says what each
step does: it is a `Job`.

1. **Open.** The output must be free and outside of any study; the randomness is the operating
   system's, or a seed's; the mechanism is built, with its ε, and the study is cut into pieces.
2. **Prepare** (`preparation.py`, of maps `measurement.py`). The hidden folder `.NAME.unfinished`
   is made beside the output, under a key that hashes all that the output depends on (`RunKey`): a
   place that cannot be written costs nothing. Every piece is read, checked and hashed; samples
   are summarised in windows, which stay in the run's scratch. What comes back is small
   (`PieceFacts`, `Outline`).
3. **Plan** (`plan.py`): bounds; the public facts (`PublicFacts`: people N, most recordings R, rows
   n, features F); the guarantee for the unit and for a person from these facts; reasons why it
   would not hold (a seed, bounds from the data). What can be refused is refused
   by now, and the caller knows what to know (`notes.py`).
4. **Charge** (`releases/accounting.py`). One ledger transaction checks the limit and records the
   person-level guarantee for everybody, under the id of the run. Above the limit: exit code 3,
   nothing counted, nothing written. The certificate is composed now.
5. **Apply** (`application.py`, of maps `measurement.py`). Pieces that have not changed since they
   were looked at are made private, each under the facts of everybody and with its own stream of
   noise; sums over people are added up in integers first. What is written once is never made
   again.
6. **Write.** Manifest, certificate and data card; scratch is removed, everything is synced and
   renamed.

A crash between 4 and 6 releases nothing, and the same command goes on under the same debit;
an abandoned run has been paid. That is the safe side: the opposite order could release without
counting. An error after the debit says that the release stays counted (a note on the exception,
which the command line prints). Without `out` nothing is written, and the debit is made all the
same.

`releases/inspection.py` says in sentences what fits a study, `releases/advice.py` decides whether
it does (windows that its recordings have, a heatmap whose size is known, a budget without a
limit) and fills in the names. Whatever a command prints behind `Next:` works as it stands;
`tests/cli/test_next_commands.py` runs it on odd studies.
"""
