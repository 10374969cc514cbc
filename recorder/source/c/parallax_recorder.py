"""Name regions of a Python program for Parallax.

    from parallax_recorder import region

    with region("epoch"):
        train()

    @region("load")
    def load(): ...

    with waiting("other workers"):  # not busy
        poll()

    async def main():
        name_tasks()  # those that begin from here on are rows of their own, by name

Threads are called as Python calls them. Regions go to the recorder that is loaded into the process, by LD_PRELOAD or from the
library that PARALLAX_LIBRARY names. Without one they cost a function call and do nothing.
By LD_PRELOAD it also sees what threads wait for: locks, joins, sleep, the interpreter's lock.
"""

import asyncio
import collections.abc
import ctypes
import functools
import os
import threading


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


def _function(name, result, *arguments):
    """A function that not all recorders have."""
    f = getattr(ctypes.PyDLL(os.environ.get("PARALLAX_LIBRARY")), name, None) if _begin else None
    if f:
        f.argtypes, f.restype = list(arguments), result
    return f


_begin_as = _function("parallax_region_begin_as", None, ctypes.c_char_p, ctypes.c_char_p)
_name_thread = _function("parallax_name_thread", None, ctypes.c_char_p)
_row_new = _function("parallax_row_new", ctypes.c_void_p, ctypes.c_char_p)
_row_use = _function("parallax_row_use", ctypes.c_void_p, ctypes.c_void_p)
_here = threading.local()


def _name_this_thread():
    """Call the row of this thread as Python calls the thread, once."""
    if not getattr(_here, "named", False) and not getattr(_here, "task", False):
        _here.named = True
        if _name_thread:
            thread = threading.current_thread()
            _name_thread(b"main" if thread is threading.main_thread() else thread.name.encode())


class region:
    """A region, as a context or as a decorator of a function. With a role it is busy as that is: compute, io and copy
    are busy; communication, synchronization, idle and overhead are not."""

    _enter = staticmethod(_begin)

    def __init__(self, name, role=None):
        self.name, self.role = name.encode(), role and role.encode()

    def __enter__(self):
        if self.role and _begin_as:
            _begin_as(self.name, self.role)
        elif self._enter:
            self._enter(self.name)
        _name_this_thread()
        return self

    def __exit__(self, *_):
        if _end:
            _end()

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with type(self)(self.name.decode(), self.role and self.role.decode()):
                return function(*args, **kwargs)

        return inside


class waiting(region):
    """A region in which the thread waits for others: it is not busy there."""

    _enter = staticmethod(_wait)


_MOST_ROWS = 256  # at once; further tasks are told with the thread that runs them
_rows = {}  # by name: rows that no task is on, and how many there are
_made = 0


def _row(name):
    global _made
    free = _rows.setdefault(name, [])
    if free:
        return free.pop()
    if not _row_new or _made >= _MOST_ROWS:
        return None
    _made += 1
    return _row_new(name.encode())


class _Task(collections.abc.Coroutine):
    """A coroutine on a row of its own: it waits there while it is not run."""

    def __init__(self, coroutine):
        self.coroutine, self.name, self.row = coroutine, None, None

    def _begin(self):
        self.name = asyncio.current_task().get_name()
        if self.name.startswith("Task-"):  # which it has not from the program
            self.name = getattr(self.coroutine, "__qualname__", "task")
        self.row = _row(self.name)

    def _step(self, step, *arguments):
        if self.name is None:
            self._begin()
        if not self.row:
            return step(*arguments)
        before, _here.task = _row_use(self.row), True
        try:
            return step(*arguments)
        except BaseException:  # it is done, or failed
            _rows[self.name].append(self.row)
            raise
        finally:
            _row_use(before)
            _here.task = False

    def send(self, value):
        return self._step(self.coroutine.send, value)

    def throw(self, *error):
        return self._step(self.coroutine.throw, *error)

    def close(self):
        return self.coroutine.close()

    def __await__(self):
        return self.coroutine.__await__()


def name_tasks():
    """Give each task of the running event loop that begins from here on a row, called as the task is, or as its
    function where it has no name of its own."""
    loop = asyncio.get_running_loop()

    def make(loop, coroutine, **options):
        own = getattr(coroutine, "__qualname__", "").startswith("BaseEventLoop.")  # the loop's, when it ends
        if asyncio.iscoroutine(coroutine) and _row_new and not own:
            coroutine = _Task(coroutine)
        return asyncio.Task(coroutine, loop=loop, **options)

    loop.set_task_factory(make)
