"""One line of progress on a terminal or in a notebook."""

from __future__ import annotations

import sys
import time
from typing import Callable, Optional, Union

Report = Callable[[str, int, int], None]

#: Shorter calls show nothing.
_PATIENCE = 1.0


class _Line:
    """Writes stage and percentage over the line before."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._text = ""

    def __call__(self, stage: str, done: int, work: int) -> None:
        if time.monotonic() - self._begun < _PATIENCE:
            return
        text = f"{stage} {min(100, 100 * done // work)} %" if work else stage
        if text != self._text:
            self._write(text)

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(len(self._text)))
        sys.stderr.flush()
        self._text = text

    def close(self) -> None:
        if self._text:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()


def _is_watched() -> bool:
    """Whether a person sees the standard error: a terminal or a notebook."""
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


class reporting:
    """`with reporting(progress) as report`: what a native call takes as its report, or None."""

    def __init__(self, progress: Union[bool, Report, None]) -> None:
        self._line: Optional[_Line] = None
        self._report: Optional[Report] = None
        if callable(progress):
            self._report = progress
        elif progress or (progress is None and _is_watched()):
            self._report = self._line = _Line()

    def __enter__(self) -> Optional[Report]:
        return self._report

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.close()
