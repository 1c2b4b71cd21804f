"""Results of a study: few numbers over people, each with an interval, under one promise.

1. **Questions** (`questions.py`): which numbers of each person, of which tasks or pages, over which
   public groups: a `Panel`, from public facts alone.
2. **Survey** (`survey.py`): of each piece its people's numbers and a hash for each person.
3. **Plan** (`plan.py`): norms and definitions give the ranges, the number of people and ε the
   rest. Whatever can be refused is refused here.
4. **Charge**, then **measure**: one draw of noise, put down before anything is made of it. The
   noisy whole numbers are all that anything after it knows of people.
5. **Present** (`presentation.py`): estimates, intervals and tests of them, the table, the figure
   and the paragraph about methods.
"""
