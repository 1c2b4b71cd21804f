from sklearn.tree import DecisionTreeClassifier

from eyelid.attacks.attackers.forest import Forest
from eyelid.attacks.attackers.tree import Tree
from eyelid.attacks.scores import named


def test_the_tree_is_scikit_learns():
    assert isinstance(Tree().classifier(3, 100), DecisionTreeClassifier)


def test_a_forest_beats_a_tree(make_records):
    known, shown = make_records(20, apart=0.6, seed=1), make_records(20, apart=0.6, seed=2)
    tree, forest = (attacker.learn(known, 0)(shown) for attacker in (Tree(), Forest()))
    assert named(forest.averaged, forest.owner).mean() > named(tree.averaged, tree.owner).mean()
