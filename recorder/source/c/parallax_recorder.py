"""Name regions of a Python program for Parallax.

    from parallax_recorder import region

    with region("epoch"):
        train()

    @region("load")
    def load(): ...

    with waiting("other workers"):  # not busy
        poll()

Regions go to the recorder that is loaded into the process, by LD_PRELOAD or from the
library that PARALLAX_LIBRARY names. Without one they cost a function call and do nothing.
By LD_PRELOAD it also sees what threads wait for: locks, joins, sleep, the interpreter's lock.
"""

import ctypes
import functools
import os


def _library():
    name = os.environ.get("PARALLAX_LIBRARY")
    try:
        library = ctypes.PyDLL(name)  # None: the process itself; PyDLL keeps the interpreter's lock
        begin, wait, end = library.parallax_region_begin, library.parallax_wait_begin, library.parallax_region_end
    except (OSError, AttributeError):
        if name:
            raise OSError(f"PARALLAX_LIBRARY={name}: no recorder of Parallax") from None
        return None, None, None
    begin.argtypes, begin.restype = [ctypes.c_char_p], None
    wait.argtypes, wait.restype = [ctypes.c_char_p], None
    end.argtypes, end.restype = [], None
    return begin, wait, end


_begin, _wait, _end = _library()


class region:
    """A region, as a context or as a decorator of a function."""

    _enter = staticmethod(_begin)

    def __init__(self, name):
        self.name = name.encode()

    def __enter__(self):
        if self._enter:
            self._enter(self.name)
        return self

    def __exit__(self, *_):
        if _end:
            _end()

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with type(self)(self.name.decode()):
                return function(*args, **kwargs)

        return inside


class waiting(region):
    """A region in which the thread waits for others: it is not busy there."""

    _enter = staticmethod(_wait)
