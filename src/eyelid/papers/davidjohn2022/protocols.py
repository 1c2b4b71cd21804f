"""How everything is measured, each protocol stated once: what is printed, inferred, leak-free."""

from __future__ import annotations

from dataclasses import replace

from eyelid.papers.reproduction import Protocol

_LIMITS = (
    "Limits are over people, wider for what runs differ; one run of a mechanism has none, since "
    "one "
    "draw serves everybody."
)

_ALL_WINDOWS = (
    "All windows are learned from and tested, by scikit-learn's exact solver; rows that are equal "
    "are learned from once with their number as weight, which is the same."
)
_BUT_NOISE = (
    "Of Exponential-DP below ε = 20, for which no number is printed, the approximation from 2,000 "
    "windows alone was run (all of them with --full)."
)
_FEW_WINDOWS = (
    "This run is a fast one: the SVM learned from 2,000 windows, an approximation, and not from "
    "all of them."
)
_ONE_PROTOCOL = (
    "This run is a fast one: the paper's network was tried by the paper's protocol alone, and "
    "three attackers leak-free."
)

READERS = Protocol(
    name="re-identification, MPIIDPEye",
    printed=(
        "An RBF network is fed feature vectors, trained on data processed by a mechanism and "
        "tested "
        'on unmodified data; "75%/25% train/test" (poster). "For MPIIDPEye the prediction scores '
        'from all inputs within a task are simply averaged before classifying identity."'
    ),
    inferred=(
        "Of what the 75% are is not printed: here the first three quarters of every recording, and "
        "the last quarter is shown.",
        "A decision for each recording; the rate is that of right decisions.",
        "32 centres a person, by k-means; bumps as wide as the mean distance of their windows; "
        "least squares with a ridge of 1e-6; features standardised by what is learned from. The "
        "number of centres is the default of the public implementation of Schröder et al. 2020.",
        "Names stay on released records, so that somebody's record in a group of k is the group's.",
    ),
    leak_free=(
        "Windows overlap and a recording has its own conditions, so quarters of one recording are "
        "not independent: here two documents are known as released and the third is shown raw, "
        "each "
        "in turn. Beside the paper's network, three attackers of ours: an RBF network of 8 centres "
        "on means of blocks of windows, linear discriminants, and whitened means of recordings. "
        + _LIMITS
    ),
)
EVENTS = Protocol(
    name="re-identification, six further datasets",
    printed=(
        "Fixations and saccades by I-S5T with default parameters, an RBF network for each, fed "
        "single "
        "events; scores averaged within each type of event, then 0.4 of fixations and 0.6 of "
        "saccades; "
        "75% and 25%."
    ),
    inferred=(
        "That the 75% are stimuli: the papers do not say. Fewer than four stimuli, as OpenNEEDS "
        "has, cannot be parted so: there recordings are, in time.",
        "The network as for MPIIDPEye, and its scores are added as they are.",
    ),
    leak_free=(
        "Each quarter of the stimuli is shown in turn. The three attackers of ours look at means "
        "of "
        "blocks of events, and their scores are z-scored before they are added. " + _LIMITS
    ),
)
DOCUMENTS = Protocol(
    name="document type",
    printed=(
        "An SVM (RBF, C = 1, γ = 1/features) is trained on the first half of reading as "
        "processed by "
        "the mechanism and tested on the second half; accuracy of single feature vectors."
    ),
    inferred=(
        "Features are standardised by what is learned from: in their own units the SVM is at "
        "chance.",
        "Second halves are raw, as the attacker's test data are.",
        "Recordings that a mechanism pads are learned from as padded.",
        _ALL_WINDOWS,
        _BUT_NOISE,
    ),
    leak_free=(
        "Windows of second halves that overlap the first are left out. Beside the paper's SVM an "
        "oblique forest, whose recipe was chosen with looks at MPIIDPEye: its figures there are "
        "not "
        "blind. Rows marked as approximations learn from 2,000 windows. " + _LIMITS
    ),
)
GROUPS = Protocol(
    name="grouping",
    printed=(
        'The text: "The same groupings of individuals are used for each stimulus to achieve '
        "k-anonymity "
        'across the entire sequence of feature vectors." The pseudocode randomizes individuals '
        "into "
        'groups within its loop over tasks; the poster: "Features are averaged within utility '
        'classes."'
    ),
    inferred=(
        "Both readings stand side by side: groups drawn anew for each document, and one "
        "partition for "
        "all. Rows without a remark are drawn anew.",
        "What becomes of people whom k does not divide is not printed: here the last group is "
        "smaller.",
    ),
    leak_free=(
        "Of each person, the released records nearest to their own raw recordings, over all "
        "documents "
        "together; ties by lot."
    ),
)
ORDER = Protocol(
    name="ordering",
    printed=(
        "Accuracy of document type at the parameters where identification is said to be at chance: "
        "k = 8, k = 8 and ε = 2 (caption of Figure 1)."
    ),
    leak_free=(
        "The same settings, measured leak-free. In the exhibit on equal identification: of each "
        "mechanism the setting nearest to the lowest rate that all three reach, and not above "
        "it, by the "
        "strongest of four attackers."
    ),
)
TIMES = Protocol(
    name="run times",
    printed=(
        "“It took less than a minute to execute k-same and Exponential-DP, compared to roughly 30 "
        "minutes to generate and test synthetic data.”"
    ),
    inferred=(
        "Wall clock of one release of everybody's recordings of MPIIDPEye: neither the dataset nor "
        "the machine is named.",
    ),
)
TABLE_2 = Protocol(
    name="datasets",
    printed="Table 2: participants, stimuli, minutes of data per participant.",
    inferred=("Ours are counted in the data at hand; minutes are those that windows cover.",),
)
PROTOCOLS = (READERS, EVENTS, DOCUMENTS, GROUPS, ORDER, TIMES, TABLE_2)


def protocols(fast: bool, full: bool = False) -> tuple[Protocol, ...]:
    """All that exhibits name, as they were followed.

    Args:
        fast: whether the SVM and the paper's network were spared.
        full: whether the SVM was nowhere spared.
    """
    spared = {_ALL_WINDOWS: _FEW_WINDOWS if fast else _ALL_WINDOWS}
    spared |= {_BUT_NOISE: ""} if fast or full else {}
    documents = tuple(spared.get(one, one) for one in DOCUMENTS.inferred)
    followed = {DOCUMENTS.name: replace(DOCUMENTS, inferred=tuple(filter(None, documents)))}
    if fast:
        followed[READERS.name] = replace(READERS, inferred=(*READERS.inferred, _ONE_PROTOCOL))
    return tuple(followed.get(one.name, one) for one in PROTOCOLS)
