"""How the paper measures, stated once: what it says, what it leaves open, what stands beside it."""

from __future__ import annotations

from eyelid.papers.reproduction import Protocol

THEOREMS = Protocol(
    "noise by the theorems",
    "Theorem 3.4: σ ≥ (m/(nε))·√(r(ε/2 + ln(r/δ))) is (ε, δ)-private. Theorem 3.5: σ ≥ √2·mr/(εn) "
    "is ε-private. n observers, r pixels, at most m of an observer in a pixel; levels good (ε = 1) "
    "and okay (ε = 3), δ = n^(−3/2).",
    ("m = 1 where the paper does not say it.",),
    "Exact: the smallest σ with which Gaussian noise is (ε, δ)-private (Balle & Wang 2018), and "
    "the exact δ of a given σ.",
)
HEATMAPS = Protocol(
    "noisy heatmaps of 50,000 copies",
    "Gaze maps of 1050 × 1680 px of five observers on one picture, each replicated 10,000 times; "
    "noise of Theorems 3.4 and 3.5 for n = 50,000 and δ = n^(−3/2) on every pixel; m = 1; the "
    "kernel I(i, j) = exp(−d²/(2σ²)); 100 noisy heatmaps a setting, mean and standard deviation.",
    (
        "The paper's gaze is of a dataset that it cites, which was not at hand, and how many "
        "samples there are of an observer is not printed: five participants of OSIE stand in, with "
        "their fixations and with samples simulated from these (at 60 and at 1,000 Hz, scattered "
        "by 0.15 of the point spread).",
        "The noise goes onto the gaze map before the kernel, whose σ is not printed: 1/42 of the "
        "width, 40 px.",
        "ε = 0.5, 1, 1.5, 3 and 5. Nothing below 0 is cut off. The squared error is that of "
        "heatmaps, in units of the kernel's peak.",
    ),
    "There is none with copies: noise for 50,000 does not protect five people. Valid for copies is "
    "map-gaussian or map-laplace for the same copies at the same ε and δ, each copy counting for "
    "at most 30 gaze points.",
)
PEOPLE = Protocol(
    "noise for the people there are",
    "Footnote 7: “If the number of observer is much smaller than 50,000, the practitioner could "
    "either down-sample gazemaps or sacrifice privacy”.",
    (
        "Theorem 3.4 with n as it is, δ as for 50,000 and m = 1, on pixels and on the coarser grid "
        "that does best of several: chosen by looking, in the paper's favour.",
    ),
    "map-grid at the same ε and δ for each person. All maps are shown alike: spread out, less one "
    "standard error, nothing below 0.",
)
CAPS = Protocol(
    "choice of the cap",
    "Algorithm 1: for m = 1 … g_max the expected squared error m²σ*² + (1/r)·Σ(G^(m) − G^(∞))² of "
    "the gaze map (Theorem 4.1); the smallest wins, in O(g_max·nr) (Theorem 4.2).",
    ("σ* is Theorem 3.4's noise for m = 1.",),
)
PROTOCOLS = (THEOREMS, HEATMAPS, PEOPLE, CAPS)
