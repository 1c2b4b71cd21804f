"""Maps of where people looked, and tables over areas of interest.

`eyelid.releases.kinds.maps.heatmap.heatmap` keeps the same order, and certificate and
debit are the same code (`releases/accounting.py`).

1. **View** (`view.py`): which stimuli, their pictures, size, where they lay on the screen, the
   point spread. Public, and never guessed silently.
2. **Survey** (`measurement.py`): of each piece, `gaze_points_of` gives `GazePoints`, in px of the
   picture; layers are pictures or stretches of time. What comes back is counts and a hash for
   each person.
3. **Plan** (`plan.py`): mechanism, grid and limits follow from public numbers. Groups are
   disjoint people and have the whole ε each; a map and tables of areas share it.
4. **Hidden folder, debit**, then **totals** (`measurement.py`): each piece's gaze points are
counted in
   cells, limited and cut to integers where they are read; only integer sums travel. **Measure**
   (the same): one draw of noise on the total, put down before anything is made of it. The noisy
   cells are all that anything after it knows.
5. **Present** (`gaze/maps/gaze_map.py`): linear spread with its exact standard error, less one
   standard error, cut off at zero, scaled to 1. `gaze/maps/noise_peaks.py` knows how high noise
   alone rises above zero and above the average of a page, `reliability.py` how wide a hotspot
   must be to be told from it, `centre_bias.py` whether a map is likely better than a blob in the
   middle.
6. **Files and pictures** (`presentation.py`, `pictures.py`, `area_pictures.py`, `page.py`,
   `reporting/cards.py`), written atomically.

`releases/audits/maps.py` attacks the noisy cells (`attacks/maps.py`), makes the map again from
them, and writes a report.
"""
