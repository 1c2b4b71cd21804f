"""Tables in BIDS: tab-separated, ``n/a`` for what is missing, described by a sidecar."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from eyelid.errors import InputError
from eyelid.io.bids.sidecars import Said, part, word
from eyelid.io.csv_cells import is_formula
from eyelid.io.files import head_of, text_table
from eyelid.io.raw_tables import check_width

Types = dict[str, type[pl.DataType]]
TypeOf = Callable[[str], type[pl.DataType]]

COLUMNS = {"time_ms": "timestamp", "x": "x_coordinate", "y": "y_coordinate", "pupil": "pupil_size"}
"""What BIDS calls the columns of a study."""

FORMATS: Types = {
    "number": pl.Float64,
    "integer": pl.Int64,
    "boolean": pl.Boolean,
    "string": pl.String,
}
"""What BIDS calls the types of columns."""

# Digits hardly pack, and packing them better takes three times as long.
_LEVEL = 4
_MISSING = "n/a"
# What others write where BIDS wants n/a.
_ALSO_MISSING = ["", "N/A", "NA", "nan", "NaN", "NAN", ".", "null", "NULL", "None"]


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """A table in the four types that BIDS has; what is not finite is missing."""

    def column(name: str, dtype: pl.DataType) -> pl.Expr:
        if dtype.is_integer():
            return pl.col(name).cast(pl.Int64)
        if dtype.is_float():
            finite = pl.when(pl.col(name).is_finite()).then(pl.col(name))
            return finite.cast(pl.Float64).alias(name)
        return pl.col(name) if dtype == pl.Boolean else pl.col(name).cast(pl.String)

    try:
        return frame.select(column(name, dtype) for name, dtype in frame.schema.items())
    except pl.exceptions.PolarsError as error:
        raise InputError(f"BIDS cannot hold the table: {str(error).splitlines()[0]}") from None


def format_of(dtype: pl.DataType) -> str:
    """What BIDS calls the type of a column of a plain table."""
    return next(name for name, known in FORMATS.items() if dtype == known)


def table_content(frame: pl.DataFrame, *, header: bool) -> bytes:
    """A plain table as it stands in a file.

    Numbers keep every bit. Text that could be mistaken for something else is a JSON string.
    """
    text = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    cells = frame.with_columns(_written(frame[name]) for name in text)
    head = "\t".join(map(_cell, frame.columns)) + "\n" if header else ""
    rows = cells.write_csv(
        separator="\t", include_header=False, null_value=_MISSING, quote_style="never"
    )
    return (head + rows).encode()


def packed(content: bytes) -> bytes:
    """Gzipped, without the time of packing in the header."""
    return gzip.compress(content, _LEVEL, mtime=0)


def _written(column: pl.Series) -> pl.Series:
    values = column.unique().drop_nulls().to_list()
    return column.replace({value: cell for value in values if (cell := _cell(value)) != value})


def _cell(value: str) -> str:
    harmless = value.isprintable() and value.strip() == value and not value.startswith('"')
    formula = is_formula(value)
    if harmless and not formula and value not in ("", _MISSING):
        return value
    packed = json.dumps(value)
    # A spreadsheet takes the quotes off, and would compute what is left.
    return f'"\\u{ord(value[0]):04x}{packed[2:]}' if formula and value[0] == packed[1] else packed


def _value(cell: str) -> str:
    try:
        return str(json.loads(cell))
    except (ValueError, RecursionError):
        # Quoted as in csv.
        return cell.strip('"').replace('""', '"')


def stated_type(sidecar: Said, column: str) -> type[pl.DataType]:
    """The type of a column that a sidecar states; text where it states none."""
    return FORMATS.get(word(part(sidecar, column).get("Format")), pl.String)


def converted(text: pl.Series, dtype: type[pl.DataType]) -> pl.Series:
    """Text as values of a type; null where it is none."""
    if dtype == pl.Boolean:
        return text.replace_strict({"true": True, "false": False}, default=None, return_dtype=dtype)
    return text.cast(dtype, strict=False)


def typed(path: Path, text: pl.Series, dtype: type[pl.DataType]) -> pl.Series:
    """A column of a file as values of a type, or an error that names the first that is none."""
    values = converted(text, dtype)
    bad = (values.is_null() & text.is_not_null()).arg_true()
    if len(bad):
        what = "integer" if dtype.is_integer() else "number" if dtype.is_float() else "truth value"
        raise InputError(
            f"{path}: row {bad[0] + 1} of column '{text.name}' is '{text[bad[0]]}', no {what}"
        )
    return values


def read_cells(
    path: Path, columns: Sequence[str] | None, type_of: TypeOf | None = None
) -> pl.DataFrame:
    """The rows of a table.

    Args:
        path: of a file, gzipped or not.
        columns: their names; None where the file must have a header. A header that should not be
            there is known by its first word, which is no number.
        type_of: the type of a column; all are text by default.
    """
    content = head_of(path).content().replace(b"\r\n", b"\n").strip(b"\n")
    first, _, rest = content.partition(b"\n")
    names = first.decode("utf-8-sig", errors="replace").split("\t")
    if not _is_number(names[0]):
        columns, content = [_value(n) if n.startswith('"') else n for n in names], rest
    if columns is None:
        raise InputError(f"neither {path} nor a sidecar of it names its columns")
    if len(set(columns)) < len(columns):
        raise InputError(f"{path} has two columns of one name: {', '.join(columns)}")
    check_width(path, len(columns))
    schema: Types = {name: type_of(name) if type_of else pl.String for name in columns}
    if not content:
        return pl.DataFrame(schema=schema)
    if content.count(b"\t") != (content.count(b"\n") + 1) * (len(columns) - 1):
        raise InputError(
            f"{path} does not have {len(columns)} columns in every row ({', '.join(columns)}): it "
            "may be truncated, or its sidecar may be another file's"
        )
    try:
        table = _parsed(content, schema)
    except pl.exceptions.PolarsError:
        table = _parsed_slowly(path, content, schema)
    return table.with_columns(
        _read(table[name]) if dtype == pl.String else pl.col(name).fill_nan(None)
        for name, dtype in schema.items()
        if dtype in (pl.String, pl.Float64)
    )


def _is_number(cell: str) -> bool:
    if cell in (_MISSING, *_ALSO_MISSING):
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parsed(content: bytes, schema: Types) -> pl.DataFrame:
    return text_table(
        content,
        has_header=False,
        separator="\t",
        quote_char=None,
        null_values=[_MISSING],
        schema=schema,
    )


def _parsed_slowly(path: Path, content: bytes, schema: Types) -> pl.DataFrame:
    """A table whose cells are missing in other words, or an error that names what is wrong."""
    try:
        table = _parsed(content, dict.fromkeys(schema, pl.String))
    except pl.exceptions.PolarsError as error:
        raise InputError(f"cannot read {path} as a table: {str(error).splitlines()[0]}") from None

    def column(name: str, dtype: type[pl.DataType]) -> pl.Series:
        text = table[name].str.strip_chars()
        return typed(path, text.set(text.is_in(_ALSO_MISSING), None), dtype)

    return table.with_columns(column(n, dtype) for n, dtype in schema.items() if dtype != pl.String)


def _read(column: pl.Series) -> pl.Series:
    quoted = column.filter(column.str.starts_with('"').fill_null(False)).unique().to_list()
    return column.replace({cell: _value(cell) for cell in quoted})
