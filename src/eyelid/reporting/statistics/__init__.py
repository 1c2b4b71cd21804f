"""Results of a study in words, tables and figures, as papers and reports have them.

Everything here takes the results table, whose rows are known before any data are touched, and the
facts of its release: nothing else of a person.
"""
