"""Who works, and how results are written: processes, Dask, atomic output, runs that resume."""
