"""How each kind of number is measured: what the paper says, and what it leaves open."""

from __future__ import annotations

from eyelid.papers.bozkir2021.recognition import Effort
from eyelid.papers.reproduction import Protocol

NOISE, UTILITY, CORRELATION = "noise", "utility", "correlation"
PEOPLE, OTHERS, TOTALS = "people", "documents, genders and scenes", "totals"


def protocols(effort: Effort, unlike: str = "") -> tuple[Protocol, ...]:
    """All that exhibits name.

    Args:
        effort: how much was done.
        unlike: why numbers can differ from the paper's, besides noise.
    """
    runs = (
        f"{_times(effort.repeats, 'noisy run')} as printed and {effort.repeats_kept} with a mean "
        f"without noise, each k chosen by {effort.runs_for_k} more; the paper has 100."
    )
    classifiers = (
        "k-NN with k = 11 and ties by lot, SVM with RBF kernel and C = 1, decision tree, random "
        "forest of 10 trees, each standardised by what it learns from"
    )
    scale = (
        "The SVM's γ is 1 over the number of features: MATLAB's automatic scale is a rule of thumb "
        "over random subsamples."
    )
    thinner = (
        f"{effort.thinner} times fewer windows are looked at: neighbours share most of their gaze.",
    )
    windows = thinner if effort.thinner > 1 else ()
    return (
        Protocol(
            NOISE,
            "Laplace noise of scale √n·√k·Δ₂/ε on the first k Fourier coefficients of each feature "
            "of each recording (FPA), of chunks of 32, 64 or 128 windows (CFPA) or of differences "
            "in chunks (DCFPA). n is “the maximum length of the observation vectors”, Δ₂ the "
            "largest distance of two participants (equation 7), k the one with “the minimum "
            "absolute NMSE for each chunk, eye movement feature, and document” over 100 noisy "
            "runs. 48 features: of 52, the four minima of wordbooks are zero.",
            (
                "The printed ε (0.48 to 48) is the sum over 48 features: the published NMSE is "
                "filed under 0.01 to 1.",
                "n is the longest signal of a task, so that everybody has one scale; each signal "
                "is transformed over its own length. In equation 7 the shorter of two signals goes "
                "on as zero. Missing values repeat the last known one.",
                "k is one of 1, 2, 4, 8, … and n/2 + 1: the paper has “a large set of possible k "
                "values”.",
                "Real and imaginary part of a coefficient get independent noise: the paper does "
                "not say which part gets it.",
                "The mirrored half of the spectrum is the conjugate of the noisy one: padded with "
                "zeros, as printed, every wave would be halved.",
                "The mean's coefficient is the first of k. A second reading leaves it without "
                "noise, which the published slopes need.",
                "Ranges of wordbooks are their maxima, since minima are zero.",
                *([unlike] if unlike else []),
            ),
        ),
        Protocol(
            UTILITY,
            "Utility is 1/|NMSE|, NMSE the mean squared error of a signal over the product of its "
            "mean and its noisy mean (equations 4 to 6): “we first calculate the mean utility of "
            "each feature and then calculate the average utility over all features”, for each "
            "document.",
            (
                "A feature's mean is over recordings and runs.",
                "The published numbers are 1 over those of the authors' file nmse.csv: the paper "
                "prints curves, between axis limits that fit them.",
                f"{_times(effort.runs_for_k, 'run')} to choose each k and as many to judge it; the "
                "paper has 100.",
            ),
        ),
        Protocol(
            CORRELATION,
            "Pearson over people, values at the fifth window against those Δt windows later, of "
            "signals and of their differences.",
            ("The paper prints curves; means of absolute coefficients stand here.",),
        ),
        Protocol(
            PEOPLE,
            "Learned from first halves of the release, tested on its second halves; one window in "
            f"5 (MPIIDPEye) or 10 (MPIIPrivacEye); {classifiers}.",
            (*windows, scale, runs),
            "Learned from raw recordings, tested on the release of another document or session; "
            "the same classifiers; 95% limits over people.",
        ),
        Protocol(
            OTHERS,
            "Learned from the release of all other people, tested on the release of the one left "
            f"out; one window in 10 (MPIIDPEye) or 20 (MPIIPrivacEye); {classifiers}.",
            (*windows, scale, runs),
            "Learned from the release of all other people, tested on raw windows of the one left "
            "out; 95% limits over people.",
        ),
        Protocol(
            TOTALS,
            "“Differential privacy for the complete signal is preserved by Theorem 2”, parallel "
            "composition: of the ε of chunks the largest is taken. Of differences the paper says "
            "that with large chunks “the total ϵ value could be very large, which reduces "
            "privacy”. A person's recordings are not added up.",
            ("ε is that of one recording.",),
            "Everything that is released of one person adds up: features, chunks and recordings.",
        ),
    )


def _times(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
