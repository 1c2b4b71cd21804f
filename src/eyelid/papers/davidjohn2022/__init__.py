"""David-John et al. 2022, For your eyes only: groups, marginals and noise to share datasets."""

from eyelid.papers.davidjohn2022.paper import reproduce

__all__ = ["reproduce"]
