"""Liu et al. 2019, Differential privacy for eye-tracking data: heatmaps under noise."""
