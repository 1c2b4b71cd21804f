"""Runs the tutorials, and writes down anew what they show.

    python -W error -m docs.notebooks

They need no Jupyter for that: cells are plain Python, and show text, a last value, and figures.
"""

from __future__ import annotations

import ast
import base64
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

NOTEBOOKS = sorted((Path(__file__).parent / "tutorials").glob("*.ipynb"))


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook with what its cells show, run in order in a namespace of their own."""
    import matplotlib.pyplot as plt

    # What others have drawn is none of its figures.
    plt.close("all")
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [
        cell | {"outputs": list(_outputs("".join(cell["source"]), names))}
        if cell["cell_type"] == "code"
        else cell
        for cell in notebook["cells"]
    ]
    return notebook | {"cells": cells}


def _outputs(code: str, names: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a cell shows, as a notebook has it; a semicolon at its end hides the last value."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    body = ast.parse(code).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    value, said = None, io.StringIO()
    with redirect_stdout(said):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    if said.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": _lines(said.getvalue())}
    if value is not None and not code.rstrip().endswith(";"):
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        yield {
            "data": data,
            "execution_count": None,
            "metadata": {},
            "output_type": "execute_result",
        }
    for number in plt.get_fignums():
        png = io.BytesIO()
        # Without the names of programs that made it, which age.
        plt.figure(number).savefig(png, dpi=80, metadata={"Software": None})
        picture = base64.b64encode(png.getvalue()).decode()
        yield {"data": {"image/png": picture}, "metadata": {}, "output_type": "display_data"}
    plt.close("all")


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def written(notebook: dict[str, Any]) -> str:
    """The text of the file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def main() -> None:
    """Run all tutorials, and write what they show into them."""
    for path in NOTEBOOKS:
        path.write_text(written(executed(json.loads(path.read_text("utf-8")))), encoding="utf-8")
        print(path.name)


if __name__ == "__main__":
    main()
