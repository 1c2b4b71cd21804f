"""What was released, on disk: ``--record FILE``. Raw gaze never gets here.

A ``.csv`` grows by whole lines, so that a kill leaves a file that can be read, at most the last
moments short. A ``.parquet`` is a folder of small Parquet files, each put there whole, which every
reader of Parquet takes for one table. The certificate stands beside either, and is written ahead of
the data: whenever a kill comes, it tells of at least the samples that are there.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import threading
from pathlib import Path

import polars as pl

from eyelid.engine.atomic import check_new, write_file
from eyelid.errors import InputError
from eyelid.spelling import json_text
from eyelid.stream.endpoints import Consumer, Sink, Stage
from eyelid.stream.samples import Backlog, ReleasedGaze

KINDS = (".csv", ".parquet")
# How long released samples wait for the disk at most, and so what a kill can lose.
_CSV_EVERY_S, _PARQUET_EVERY_S = 0.5, 5.0
# A disk that hangs for longer loses the oldest of what waits: four minutes at 1000 per second.
_CAPACITY = 1 << 18


class Recorder(Sink):
    """Writes released samples from a thread of its own, so that no disk holds up the stream.

    A full disk ends the recording and says so; the stream goes on. What was written stays.

    Args:
        path: a new ``.csv`` or ``.parquet``.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(f"record {path}")
        if path.suffix.lower() not in KINDS:
            raise InputError(f"cannot record to {path}: name it .csv or .parquet")
        self.path = path
        self.certificate_path = path.with_name(f"{path.name}.certificate.json")
        for new in (path, self.certificate_path):
            check_new(new)
        self._backlog = Backlog(_CAPACITY)
        self._written = 0
        self._parts = 0
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._stage: Stage | None = None

    async def open(self, stage: Stage) -> None:
        """Put the beginning of the file there, which fails where nothing can be written."""
        self._stage = stage
        try:
            if self._is_csv:
                with self.path.open("x", encoding="utf-8") as file:
                    file.write(",".join(["time_ms", *stage.columns]) + "\n")
            else:
                self.path.mkdir()
        except OSError as error:
            raise InputError(f"cannot record to {self.path}: {error.strerror}") from None
        self._write_certificate(0)
        self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
        self._thread.start()

    @property
    def _is_csv(self) -> bool:
        return self.path.suffix.lower() == ".csv"

    def offer(self, gaze: ReleasedGaze) -> None:
        """Have it written."""
        if not self.trouble:
            self._backlog.offer(gaze)

    def consumers(self) -> list[Consumer]:
        """The file."""
        return [Consumer(self.name, self._written, self._backlog.lost, len(self._backlog))]

    @property
    def crowded(self) -> bool:
        """Whether the disk is behind."""
        return self._backlog.crowded

    async def close(self) -> None:
        """Write what is left."""
        if self._thread is not None:
            self._end.set()
            await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        every_s = _CSV_EVERY_S if self._is_csv else _PARQUET_EVERY_S
        try:
            ended = False
            while not ended:
                # Before what is left is taken, so that nothing comes after it.
                ended = self._wait(every_s)
                gaze, _ = self._backlog.take()
                if gaze is not None:
                    self._write_certificate(self._written + len(gaze))
                    self._write(gaze)
                    self._written += len(gaze)
            self._write_certificate(self._written, complete=True)
        except Exception as error:
            # Whatever it is: in a thread of its own nobody else would hear of it.
            why = error.strerror if isinstance(error, OSError) else str(error)
            self.trouble = (
                f"recording stopped after {self._written} samples ({why or error}); the stream "
                "goes on without it"
            )
            self._backlog.take()
            with contextlib.suppress(InputError):
                self._write_certificate(self._written)

    def _wait(self, seconds: float) -> bool:
        """Until it is time to write, or enough waits; whether it is the end."""
        step_s = min(seconds, 0.05)
        while seconds > 0 and len(self._backlog) < _CAPACITY // 4:
            if self._end.wait(step_s):
                return True
            seconds -= step_s
        return self._end.is_set()

    def _write(self, gaze: ReleasedGaze) -> None:
        table = pl.DataFrame(gaze.columns)
        if self._is_csv:
            self._append(table.write_csv(include_header=False).encode())
            return
        part = io.BytesIO()
        table.write_parquet(part)
        write_file(self.path / f"part-{self._parts:06d}.parquet", part.getvalue())
        self._parts += 1

    def _append(self, lines: bytes) -> None:
        """Whole lines, or none of them."""
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            size = os.fstat(handle).st_size
            try:
                written = 0
                while written < len(lines):
                    written += os.write(handle, lines[written:])
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(handle, size)
                raise
        finally:
            os.close(handle)

    def _write_certificate(self, samples: int, complete: bool = False) -> None:
        """What holds of everything released so far, which is these samples at least."""
        assert self._stage is not None
        content = {"recording": self.path.name, "recorded_samples": samples, "complete": complete}
        content |= self._stage.certificate()
        write_file(self.certificate_path, json_text(content))
