"""The audit of a release: what is attacked, checked and found, kind by kind.

`eyelid.releases.audits.audit.audit` puts it together; `docs/audit.md` says what the figures mean.

Everything of it is in `releases/audits`. What differs by kind of release is a table from
`ReleaseKind` to an `Attack` (`kinds.py`), one module each (`records`, `groups`, `means`,
`synthetic`, `gaze`, `maps`): how a pair is matched, what its values and noise must be, how it is
attacked, how a comparison measures it, and which canaries suit it.

1. **Target** (`pairing.py` for features, `gaze.py`, `map_target.py`): read both, refuse what does
   not belong together (people, features, the hash of the released data, what `accounts.py` finds
   in the ledger), and build the certificate's mechanism again. An `AuditTarget` has a variant for
   each kind (`target.py`). What a certificate says is held against ledger, mechanism and data
   (`consistency.py`, and what is particular to a kind in its module).
2. **Material** (`attacks/protocols.py`): original, release, and fresh releases for attackers who
   know the mechanism. A `Protocol` says what is known and what is shown, a `Split` which rows
   (`attacks/protocols.py`).
3. **Attackers** (`attacks/attackers`) learn from `Records` and score others. What was learned
   once is used under every protocol that shows it something. Each released record is scored
   alone: that is what the bounds are about. Lessons, folds of models and pairs that are left out
   go through `spread_with`: threads here, workers on Dask.
4. **Findings** stand beside the bounds of this release, with Holm's correction over all of them.
   Null control, utility, attributes, error, averaging, correlation over time and canaries follow.
   Code that needs what a mechanism measured (the likelihood attacker, the check of the noise) reads
   it off the release by `attacks/measurements.py`.
5. **Groups and synthetic rows** are attacked otherwise. Of a k-anonymous release the owner's data
   give the groups back (`attacks/anonymity.py`); `audits/groups.py` makes them again and
   compares, `attacks/groups.py` attacks them under their members' names. `attacks/synthetic.py`
   asks what synthetic rows and people teach, and whether they show who was there;
   `attacks/similarity.py` how like people they are.
6. **Result, verdict, audit.json, report.** An `Audit` is a base with one variant for each kind
   (`reporting/audits`: `results.py`; `verdict.py`, `audit_json.py`, `page.py` with one partial
   template a section).
   `folder.py` writes them into `NAME-audit` beside the release, private and in one step
   (`engine/atomic.private_folder`), and decides that before anything is attacked.

**Nothing is written into a study or a release.** Every output goes through `check_new` or
`check_file` of `engine/atomic.py`, which refuse a path that lies in, or leads into, a folder with
a `study.json` or a `certificate.json`. What is needed on the way (the journal of a comparison, a
run whose output goes elsewhere) keeps outside by the same rule.
`tests/cli/test_released_folders.py` takes snapshots of releases of every kind around every
command.
"""
