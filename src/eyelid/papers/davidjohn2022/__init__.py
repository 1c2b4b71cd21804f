"""David-John et al. 2022, For your eyes only: groups, marginals and noise to share datasets."""
