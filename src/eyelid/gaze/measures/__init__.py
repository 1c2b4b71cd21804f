"""One number a person: what results of a study are made of.

A `Measure` says which number that is, and within which bounds it lies by definition. A `Panel` says
of which tasks or pages, and which differences between them, and reads off any study the values of
its people: one row a person, one column an entry, NaN where a person has none. Who has a row, and
which columns there are, follows from public facts alone; nobody is left out. Nothing is private
yet.
"""
