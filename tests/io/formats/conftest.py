"""Damage to files, as it happens to them on disks and in copies."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.io import read

# Where, how many bytes go, and which come instead.
ACCIDENTS = st.lists(
    st.tuples(st.integers(0, 1 << 20), st.integers(0, 24), st.binary(max_size=8)),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="session")
def survives(tmp_path_factory):
    """Damage a file as hypothesis likes: it gives a study, or an error of one line."""
    home = tmp_path_factory.mktemp("damaged")

    def read_damaged(content: bytes, data, name: str = "file", reader=read, **said) -> None:
        for at, gone, new in data.draw(ACCIDENTS):
            place = at % (len(content) + 1)
            content = content[:place] + new + content[place + gone :]
        path = home / name
        path.write_bytes(content)
        lines = 1
        try:
            reader(path, **said)
        except InputError as error:
            lines = len(str(error).splitlines())
        assert lines == 1

    return read_damaged
