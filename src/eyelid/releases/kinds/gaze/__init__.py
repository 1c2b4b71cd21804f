"""Synthetic recordings of gaze: plan, survey, pay, measure, draw, write.

1. **Plan** (`plan.py`): what is public, what ε buys of so many people. Refusals happen here.
2. **Survey** (`survey.py`): of each piece its people's parameters, and where they looked.
3. **Charge**, then **measure**: what was measured is put down before anything is made of it.
4. **Draw** (`release.py`): synthetic participants, a few at a time, from what was measured.
"""
