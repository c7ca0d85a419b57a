"""Exceptions: a class per kind of error, each with one line of text."""


class InselbergError(Exception):
    """Every error of this package."""


class InvalidArgumentError(InselbergError, ValueError):
    """An argument is out of range, or two do not fit together."""


class InvalidCellsError(InselbergError, ValueError):
    """Cells overlap, lie outside the box, or are no octree."""


class InvalidValueError(InselbergError, ValueError):
    """A value is not finite, or negative where that is not allowed."""


class ReadError(InselbergError, OSError):
    """A file cannot be read."""


class WriteError(InselbergError, OSError):
    """A file cannot be written."""


class OutOfMemoryError(InselbergError, MemoryError):
    """Memory or indices do not suffice."""


class CancelledError(InselbergError):
    """A call was ended before it was done."""


class TimedOutError(InselbergError, TimeoutError):
    """Ranks waited too long for another one."""


class CommunicationError(InselbergError, ConnectionError):
    """Ranks could not exchange messages, or made different calls."""


class ForkedError(InselbergError, RuntimeError):
    """A forked child made a call after its parent had made one."""


class InternalError(InselbergError, RuntimeError):
    """A fault of the library: please report it."""
