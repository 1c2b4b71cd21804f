"""What people read: results beside their words, data cards, pictures, and the templates of pages.

A result (`Quote`, `Budget`, `Audit`, `Comparison`) is a dataclass of plain values here, because its
words belong to it; `eyelid.releases` and `eyelid.comparisons` compute these values and fill it in.
What is particular to a kind of release is a part or a variant of the result that has words of its
own. Nothing here knows how a release, an audit or a comparison comes about.
"""
