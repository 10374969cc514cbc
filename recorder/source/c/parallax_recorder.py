"""Name regions of a Python program for Parallax.

    from parallax_recorder import region

    with region("epoch"):
        train()

    @region("load")
    def load(): ...

Regions go to the recorder that is loaded into the process, by LD_PRELOAD or from the
library that PARALLAX_LIBRARY names. Without one they cost a function call and do nothing.
"""

import ctypes
import functools
import os


def _library():
    name = os.environ.get("PARALLAX_LIBRARY")
    try:
        library = ctypes.CDLL(name)  # None: the process itself
        begin, end = library.parallax_region_begin, library.parallax_region_end
    except (OSError, AttributeError):
        if name:
            raise OSError(f"PARALLAX_LIBRARY={name}: no recorder of Parallax") from None
        return None, None
    begin.argtypes, begin.restype = [ctypes.c_char_p], None
    end.argtypes, end.restype = [], None
    return begin, end


_begin, _end = _library()


class region:
    """A region, as a context or as a decorator of a function."""

    def __init__(self, name):
        self.name = name.encode()

    def __enter__(self):
        if _begin:
            _begin(self.name)
        return self

    def __exit__(self, *_):
        if _end:
            _end()

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with region(self.name.decode()):
                return function(*args, **kwargs)

        return inside
