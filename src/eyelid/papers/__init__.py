"""Three papers as printed: their mechanisms, tables and figures, beside ours.

`eyelid.papers.catalogue.reproduce` loads one of `papers/bozkir2021`, `papers/davidjohn2022`,
`papers/liu2019`. Each fills the same form (`reproduction.py`): exhibits of cells, a cell being
the printed number, ours by the paper's protocol, ours by a leak-free one; protocols that stand
once; a verdict on each exhibit. Sentences are computed from the cells. `datasets.py` finds what is
at hand; what is not is listed as not run, and simulated participants are labelled. `page.py` writes
the folder. Printed numbers are in the package, data never.
"""
