"""Released samples that wait for a slow consumer."""

from hypothesis import given
from hypothesis import strategies as st

from eyelid.stream.samples import Backlog, ReleasedGaze


def released(first, count):
    times = [float(t) for t in range(first, first + count)]
    return ReleasedGaze(times, [times[:], times[:]], "on", 0.0)


def test_old_samples_give_way_and_are_told_once():
    backlog = Backlog(5)
    backlog.offer(released(0, 4))
    backlog.offer(released(4, 4))
    gaze, lost = backlog.take()
    assert gaze.time_ms == gaze.parts[1] == [3, 4, 5, 6, 7]
    assert (lost, backlog.lost) == (3, 3)
    assert backlog.take() == (None, 0)
    backlog.offer(released(8, 1))
    assert backlog.take()[1] == 0


def test_what_was_offered_stays_as_it_was():
    """Consumers share the lists: putting pieces together must not change them."""
    backlog, first = Backlog(10), released(0, 2)
    backlog.offer(first)
    backlog.offer(released(2, 2))
    assert len(backlog.take()[0]) == 4
    assert first.time_ms == [0, 1]


@given(st.integers(1, 20), st.lists(st.integers(0, 8), max_size=30))
def test_the_newest_stay_and_all_others_are_counted(capacity, steps):
    """A step of 0 is a consumer who takes, any other offers so many samples."""
    backlog, came, got, told = Backlog(capacity), 0, [], 0
    for count in [*steps, 0]:
        if count:
            backlog.offer(released(came, count))
            came += count
            assert len(backlog) <= capacity
        else:
            waiting = min(capacity, len(backlog))
            gaze, lost = backlog.take()
            told += lost
            new = gaze.time_ms if gaze else []
            assert new == list(range(came - waiting, came))
            got += new
    assert len(got) + told == came
    assert told == backlog.lost
