"""Parallax in Python: runs of parallel programs, their findings, rows and pictures.

    import parallax
    run = parallax.open("run.otf2")
    run.findings()
    run.query("select rank, sum(busy) as busy from busy() group by 1")
    run.view("timeline", from_="20%", to="30%")

One file without required dependencies. It starts the program `parallax` as a child, which ends with
Python, and asks it through a private socket. `parallax docs notebook` explains the rest.
"""
from __future__ import annotations

import atexit
import base64
import builtins
import html
import http.client
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple,
                    Union, overload)
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from typing import Literal

    import pandas
    import polars
    import pyarrow

__all__ = ["open", "open_all", "compare", "close", "Run", "View", "Comparison", "Finding", "Findings", "Workbench",
           "Report", "ParallaxError"]

_PROTOCOL = 1
_ARROW = "application/vnd.apache.arrow.stream"
_KINDS = {".parquet": "application/vnd.apache.parquet", ".arrow": "application/vnd.apache.arrow.file",
          ".csv": "text/csv"}
_MOST = 2 << 30  # bytes of a result that query() holds at once

Params = Union[Sequence[Any], Mapping[str, Any], None]
Source = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]
Progress = Union[bool, Callable[[float], None], None]


class ParallaxError(Exception):
    """An error of the program: `message` is its sentence, `hint` the advice, `kind` a word for programs."""

    def __init__(self, message: str, hint: str = "", kind: str = "failed") -> None:
        super().__init__(message + (f" ({hint})" if hint else ""))
        self.message, self.hint, self.kind = message, hint, kind


def _error(answer: Any) -> ParallaxError:
    if not isinstance(answer, dict):
        return ParallaxError(str(answer))
    return ParallaxError(answer.get("error", ""), answer.get("hint", ""), answer.get("kind", "failed"))


# -- the child -----------------------------------------------------------------------------------------

def _program() -> str:
    name = "parallax.exe" if os.name == "nt" else "parallax"
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    named = os.environ.get("PARALLAX")
    for path in (named,) if named else (beside, shutil.which("parallax")):
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    if named:
        raise ParallaxError(f"$PARALLAX is {named!r}, which is no program", "correct it, or unset it", "no-program")
    raise ParallaxError("the program parallax is not found",
                        "put it on PATH, or name it in the environment variable PARALLAX", "no-program")


class _Response(http.client.HTTPResponse):
    """An answer that keeps its trailers, which http.client reads and drops."""

    trailers: Dict[str, str] = {}

    def _read_and_discard_trailer(self) -> None:
        self.trailers = {}
        while True:
            line = self.fp.readline(1 << 16).decode("utf-8", "replace").rstrip("\r\n")
            if not line:
                return
            name, _, value = line.partition(":")
            self.trailers[name.strip().lower()] = value.strip()


class _Connection(http.client.HTTPConnection):
    response_class = _Response

    def __init__(self, address: str) -> None:
        self._path = address[5:] if address.startswith("unix:") else ""
        super().__init__("localhost" if self._path else address)

    def connect(self) -> None:
        if not self._path:
            return super().connect()
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


class _Child:
    """The program as a child, and requests to it. One serves all runs of this Python."""

    def __init__(self) -> None:
        program = _program()
        self.pid, self.lock, self.uses = os.getpid(), threading.Lock(), {}  # type: int, Any, Dict[str, int]
        self.said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        try:
            self.process = subprocess.Popen([program, "open", "--child", "--quiet"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=self.said)
        except OSError as e:
            raise ParallaxError(f"{program} does not start: {e}", kind="no-program") from None
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        try:
            hello = json.loads(line)
            protocol = hello["protocol"]
        except (ValueError, KeyError, TypeError):
            raise self._refused(f"{program} is too old or no Parallax: {self._last(line)}") from None
        if protocol != _PROTOCOL:
            raise self._refused(f"{program} is version {hello.get('version')} and speaks protocol {protocol}; this "
                                f"module speaks {_PROTOCOL}")
        self.version, self.address, self.token = hello["version"], hello["address"], hello["token"]

    def _refused(self, text: str) -> ParallaxError:
        self.end()
        return ParallaxError(text, "`parallax python` writes the module that fits a program", "version")

    def _last(self, line: bytes = b"") -> str:
        """The last line that the program said."""
        self.said.seek(0)
        lines = (self.said.read() + line.decode("utf-8", "replace")).strip().splitlines()
        return lines[-1] if lines else "it says nothing"

    def alive(self) -> bool:
        return self.pid == os.getpid() and self.process.poll() is None

    def ask(self, method: str, path: str, body: Any = None, accept: str = "application/json") -> "_Answer":
        if not self.alive():
            raise ParallaxError("the program has ended", "open the run again", "ended")
        connection = _Connection(self.address)
        headers = {"Authorization": "Bearer " + self.token, "Accept": accept}
        if body is not None:
            headers["Content-Type"] = "application/json"
        answer = _Answer(self, connection)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer.response = connection.getresponse()
            if answer.response.status >= 400:
                text = answer.response.read()
                try:
                    raise _error(json.loads(text))
                except ValueError:
                    raise ParallaxError(text.decode("utf-8", "replace")) from None
        except (OSError, http.client.HTTPException) as e:
            answer.close()
            raise self.broken(e) from None
        except BaseException:  # KeyboardInterrupt too: closing the connection ends the work
            answer.close()
            raise
        return answer

    def broken(self, e: BaseException) -> ParallaxError:
        for _ in range(20):  # a child that died is noticed a moment later
            if self.process.poll() is not None:
                return ParallaxError(f"the program has ended: {self._last()}", "open the run again", "ended")
            time.sleep(0.01)
        return ParallaxError(f"the answer broke off: {e or type(e).__name__}", "ask for less at once", "cut")

    def bytes(self, method: str, path: str, body: Any = None) -> bytes:
        with self.ask(method, path, body) as answer:
            return answer.read()

    def json(self, method: str, path: str, body: Any = None) -> Any:
        return json.loads(self.bytes(method, path, body) or b"null")

    def use(self, run: str) -> None:
        with self.lock:
            self.uses[run] = self.uses.get(run, 0) + 1

    def release(self, run: str) -> None:
        """Closes a run when the last that opened it is done."""
        with self.lock:
            self.uses[run] -= 1
            last = self.uses[run] == 0
        if last and self.alive():
            self.bytes("DELETE", "/api/runs/" + quote(run))

    def end(self) -> None:
        if self.pid != os.getpid():  # it belongs to the process that was forked
            return
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()  # which is how the child knows
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


class _Answer:
    """An answer that is read piece by piece. Closing it early ends the work in the program."""

    response: http.client.HTTPResponse

    def __init__(self, child: _Child, connection: _Connection) -> None:
        self.child, self.connection, self.count = child, connection, 0

    def read(self, length: Optional[int] = None) -> bytes:
        try:
            if length is None:
                got = self.response.read()
            else:
                parts, left = [], length
                while left > 0:
                    part = self.response.read(left)
                    if not part:
                        break
                    parts.append(part)
                    left -= len(part)
                got = parts[0] if len(parts) == 1 else b"".join(parts)
        except (OSError, http.client.HTTPException) as e:
            raise self.child.broken(e) from None
        self.count += len(got)
        if length is None or len(got) < length:
            self.check()
        if length is not None and len(got) < length:
            raise ParallaxError("the answer broke off before its end", "ask for less at once", "cut")
        return got

    def readinto(self, view: memoryview) -> None:
        """Fills memory that is already where the bytes belong."""
        at = 0
        try:
            while at < len(view):
                got = self.response.readinto(view[at:])
                if not got:
                    self.check()
                    raise ParallaxError("the answer broke off before its end", "ask for less at once", "cut")
                at += got
        except (OSError, http.client.HTTPException) as e:
            raise self.child.broken(e) from None
        self.count += at

    def pieces(self) -> Iterator[bytes]:
        """Yields all that comes, in pieces of a bounded size."""
        while True:
            try:
                got = self.response.read(1 << 22)
            except (OSError, http.client.HTTPException) as e:
                raise self.child.broken(e) from None
            if not got:
                return self.check()
            self.count += len(got)
            yield got

    def check(self) -> None:
        """Raises the error that ended the answer early."""
        said = getattr(self.response, "trailers", {}).get("parallax-error")
        if said:
            raise _error(json.loads(said))

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> "_Answer":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


_lock = threading.Lock()
_child: Optional[_Child] = None


def _server() -> _Child:
    global _child
    with _lock:
        if _child is None or not _child.alive():
            _child = _Child()
            atexit.register(_child.end)
        return _child


def close() -> None:
    """Ends the program and all runs in it. It is also done when Python ends."""
    global _child
    with _lock:
        if _child is not None:
            _child.end()
        _child = None


# -- Arrow, for Pythons without a library for it: whole numbers, numbers, texts by dictionary ---------

class _Column(NamedTuple):
    name: str
    kind: str  # "q" whole number, "d" number, "s" text
    unit: str


class _Part(NamedTuple):
    """The values of a column in one batch; words where they are numbers of words."""
    missing: memoryview
    values: memoryview
    words: Optional[List[str]]


def _field(b: bytes, table: int, number: int) -> int:
    """Returns the position of a field of a flatbuffer table, 0 if it is absent."""
    fields = table - struct.unpack_from("<i", b, table)[0]
    if 4 + 2 * number >= struct.unpack_from("<H", b, fields)[0]:
        return 0
    offset = struct.unpack_from("<H", b, fields + 4 + 2 * number)[0]
    return int(table + offset) if offset else 0


def _follow(b: bytes, at: int) -> int:
    return int(at + struct.unpack_from("<I", b, at)[0])


def _vector(b: bytes, table: int, number: int) -> Tuple[int, int]:
    at = _field(b, table, number)
    if not at:
        return 0, 0
    at = _follow(b, at)
    return at + 4, struct.unpack_from("<I", b, at)[0]


def _string(b: bytes, table: int, number: int) -> str:
    first, length = _vector(b, table, number)
    return b[first:first + length].decode()


class _Stream:
    """Batches of an Arrow stream, as the program writes them."""

    def __init__(self, answer: _Answer) -> None:
        self.answer, self.words = answer, {}  # type: _Answer, Dict[int, List[str]]
        kind, meta, header, _ = self._message()
        if kind != 1:
            raise ParallaxError("the answer is no table", kind="cut")
        first, n = _vector(meta, header, 1)
        self.columns = [self._column(meta, _follow(meta, first + 4 * i)) for i in range(n)]

    @staticmethod
    def _column(b: bytes, field: int) -> _Column:
        units, n = _vector(b, field, 6)
        unit = _string(b, _follow(b, units), 1) if n else ""
        return _Column(_string(b, field, 0), {2: "q", 3: "d", 5: "s"}[b[_field(b, field, 2)]], unit)

    def _message(self) -> Tuple[int, bytes, int, int]:
        """Reads the metadata of a message: its kind, itself, where its header is, and the size of the body that
        follows. Kind 0 is the end."""
        length = struct.unpack("<I", self.answer.read(8)[4:])[0]
        if length == 0:
            self.answer.read()  # what follows is empty, or the trailer that tells of an error
            return 0, b"", 0, 0
        meta = self.answer.read(length)
        message = _follow(meta, 0)
        size = _field(meta, message, 3)
        return (meta[_field(meta, message, 1)], meta, _follow(meta, _field(meta, message, 2)),
                struct.unpack_from("<q", meta, size)[0] if size else 0)

    def _next(self) -> Optional[Tuple[int, List[Tuple[int, int]], int]]:
        """Reads up to the body of the next batch: its rows, where its buffers are in the body, and its size."""
        while True:
            kind, meta, header, size = self._message()
            if kind == 0:
                return None
            if kind == 3:
                rows, places = self._places(meta, header)
                return rows, places, size
            number = _field(meta, header, 0)  # the words of a column, for the batch that follows
            _, (_, ends, text) = self._places(meta, _follow(meta, _field(meta, header, 1)))
            body = memoryview(self.answer.read(size))
            at, raw = body[ends[0]:sum(ends)].cast("i"), bytes(body[text[0]:sum(text)])
            self.words[struct.unpack_from("<q", meta, number)[0] if number else 0] = [
                raw[at[i]:at[i + 1]].decode("utf-8", "replace") for i in range(len(at) - 1)]

    @staticmethod
    def _places(b: bytes, batch: int) -> Tuple[int, List[Tuple[int, int]]]:
        first, n = _vector(b, batch, 2)
        rows = _field(b, batch, 0)
        return (struct.unpack_from("<q", b, rows)[0] if rows else 0,
                [(at, size) for at, size in struct.iter_unpack("<qq", b[first:first + 16 * n])])

    def batches(self) -> Iterator[Tuple[int, List[_Part]]]:
        while True:
            batch = self._next()
            if batch is None:
                return
            rows, places, size = batch
            body = memoryview(self.answer.read(size))
            parts = [body[at:at + n] for at, n in places]
            yield rows, [_Part(parts[2 * i], parts[2 * i + 1], self.words.get(i) if c.kind == "s" else None)
                         for i, c in enumerate(self.columns)]

    def fill(self, arrays: "_Arrays") -> int:
        """Reads a batch into arrays, without a copy, and returns how many rows it has; -1 is the end."""
        batch = self._next()
        if batch is None:
            return -1
        rows, places, size = batch
        arrays.make_space(rows)
        at = 0
        for i, (begin, length) in enumerate(places):
            self.answer.read(begin - at)  # padding
            at = begin + length
            if i % 2:
                self.answer.readinto(arrays.values_of(i // 2, rows))
                arrays.renumber(i // 2, rows, self.words.get(i // 2))
            elif length:
                arrays.mark_missing(i // 2, rows, self.answer.read(length))
        self.answer.read(size - at)
        arrays.rows += rows
        return rows


def _lists(columns: Sequence[_Column], batches: Sequence[Tuple[int, List[_Part]]]) -> Dict[str, List[Any]]:
    out: Dict[str, List[Any]] = {c.name: [] for c in columns}
    for _, parts in batches:
        for c, p in zip(columns, parts):
            values: List[Any] = p.values.cast("i" if c.kind == "s" else c.kind).tolist()
            if p.words is not None:
                words = p.words
                values = [words[i] for i in values]
            if len(p.missing):
                bits = p.missing
                values = [v if bits[i >> 3] >> (i & 7) & 1 else None for i, v in enumerate(values)]
            out[c.name].extend(values)
    return out


class _Arrays:
    """Columns of a DataFrame that grows by batches. No row is touched in Python."""

    def __init__(self, columns: Sequence[_Column], space: int) -> None:
        import numpy
        self.np, self.columns, self.rows, self.space = numpy, columns, 0, space
        self.values: List[Any] = [numpy.empty(space, {"q": "<i8", "d": "<f8", "s": "<i4"}[c.kind]) for c in columns]
        self.missing: List[Any] = [None] * len(columns)  # which values are, where some are
        self.words: List[Dict[str, int]] = [{} for _ in columns]

    def make_space(self, rows: int) -> None:
        if self.rows + rows <= self.space:
            return
        self.space = max(2 * self.space, self.rows + rows)
        for arrays in (self.values, self.missing):
            for i, old in enumerate(arrays):
                if old is not None:
                    arrays[i] = self.np.zeros(self.space, old.dtype)
                    arrays[i][:self.rows] = old[:self.rows]

    def values_of(self, column: int, rows: int) -> memoryview:
        return memoryview(self.values[column][self.rows:self.rows + rows].data).cast("B")

    def mark_missing(self, column: int, rows: int, bits: bytes) -> None:
        if self.missing[column] is None:
            self.missing[column] = self.np.zeros(self.space, bool)
        there = self.np.unpackbits(self.np.frombuffer(bits, self.np.uint8), count=rows, bitorder="little")
        self.missing[column][self.rows:self.rows + rows] = there == 0

    def renumber(self, column: int, rows: int, words: Optional[List[str]]) -> None:
        """Turns numbers of words of a batch into those among the words of all batches."""
        if self.columns[column].kind != "s" or not words:
            return
        known = self.words[column]
        numbers = self.np.array([known.setdefault(w, len(known)) for w in words], self.np.int32)
        if (numbers != self.np.arange(len(numbers))).any():
            codes = self.values[column][self.rows:self.rows + rows]
            codes[:] = numbers[codes]

    def frame(self) -> Any:
        """Makes a DataFrame: texts are categories, whole numbers with nulls are Int64."""
        import pandas as pd
        made: Dict[str, Any] = {}
        for i, c in enumerate(self.columns):
            values, gone = self.values[i], self.missing[i]
            if self.rows < self.space:
                values = values[:self.rows].copy()
            gone = None if gone is None or not gone[:self.rows].any() else gone[:self.rows]
            if c.kind == "s":
                if gone is not None:
                    values[gone] = -1
                values = pd.Categorical.from_codes(values, list(self.words[i]))
            elif gone is not None:
                values = self.np.where(gone, self.np.nan, values) if c.kind == "d" else pd.arrays.IntegerArray(values,
                                                                                                              gone)
            made[c.name], self.values[i] = values, None
        frame = pd.DataFrame(made, columns=[c.name for c in self.columns], copy=False)
        frame.attrs["units"] = {c.name: c.unit for c in self.columns if c.unit}
        return frame


# -- views, findings, comparisons ----------------------------------------------------------------------

def _option(name: str) -> str:
    """The program's name of an option: from_ is from, min_change is min-change."""
    return name.rstrip("_").replace("_", "-")


class View:
    """A picture and its numbers, computed when they are looked at. It shows itself in a notebook."""

    def __init__(self, run: "Run", name: str, options: Mapping[str, Any]) -> None:
        self.run, self.name, self.options = run, name, dict(options)
        self._held: Dict[str, bytes] = {}
        self.title = str(json.loads(self._get("check"))["title"])

    def _get(self, what: str, **more: Any) -> bytes:
        pairs = []
        for key, value in {**self.options, **more}.items():
            for x in value if isinstance(value, (list, tuple)) else [value]:
                x = x.id if isinstance(x, Run) else str(x).lower() if isinstance(x, bool) else x
                if x is not None:
                    pairs.append((_option(key), x))
        try:
            return self.run._bytes("GET", f"/views/{quote(self.name)}/{what}?{urlencode(pairs)}")
        except ParallaxError as e:
            said = re.sub(r"--([a-z][a-z-]*)", lambda m: m.group(1).replace("-", "_"), e.message)
            raise ParallaxError(said, e.hint, e.kind) from None

    def _kept(self, format: str) -> bytes:
        if format not in self._held:
            self._held[format] = self._get("export", format=format)
        return self._held[format]

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        return self._kept("svg").decode()

    @property
    def png(self) -> bytes:
        """The picture as PNG."""
        return self._kept("png")

    @property
    def data(self) -> Dict[str, Any]:
        """The numbers as JSON has them."""
        out: Dict[str, Any] = json.loads(self._kept("json"))
        return out

    def table(self) -> Any:
        """Returns the numbers as rows: a DataFrame, without pandas a list of dicts."""
        rows: List[List[Any]] = []
        while True:
            page = json.loads(self._get("table", offset=len(rows), limit=10000))
            rows.extend(page["rows"])
            if not page["rows"] or len(rows) >= page["total"]:
                break
        return _rows([c["name"] for c in page["columns"]], rows, {c["name"]: c["unit"] for c in page["columns"]})

    def save(self, path: "Union[str, os.PathLike[str]]", **more: Any) -> str:
        """Writes a file: svg, png, pdf, jpg, csv or json by its ending. Returns its path."""
        path = os.fspath(path)
        content = self._get("export", format=os.path.splitext(path)[1][1:].lower(), **more)
        with builtins.open(path, "wb") as f:
            f.write(content)
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, str]:
        # An image and no markup: no notebook has to trust it, and no style of it reaches the page.
        image = base64.b64encode(self.svg.encode()).decode()
        return {"text/html": f'<img alt="{html.escape(repr(self))}" style="max-width:100%" '
                             f'src="data:image/svg+xml;base64,{image}">', "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<{self.title} of {self.run.name}>"


def _rows(columns: List[str], rows: List[List[Any]], units: Dict[str, str]) -> Any:
    try:
        import pandas as pd
    except ImportError:
        return [dict(zip(columns, r)) for r in rows]
    frame = pd.DataFrame(rows, columns=columns)
    frame.attrs["units"] = {k: u for k, u in units.items() if u}
    return frame


def _records(rows: List[Dict[str, Any]]) -> Any:
    try:
        import pandas as pd
    except ImportError:
        return rows
    return pd.DataFrame(rows)


class Comparison(View):
    """The changes from runs to other runs: words, rows and a picture."""

    @property
    def text(self) -> str:
        """The changes in a few sentences, with how certain they are."""
        return str(self.data["data"]["text"])

    def df(self) -> Any:
        """Returns a row per call path, the largest difference first: a DataFrame, without pandas a list of dicts."""
        return _records(self.data["data"]["rows"])

    @property
    def changed(self) -> List[Dict[str, Any]]:
        """The rows whose change is certain."""
        return [r for r in self.data["data"]["rows"] if r["verdict"] in ("longer", "shorter")]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, str]:
        bundle = super()._repr_mimebundle_()
        return {"text/html": f"<p>{html.escape(self.text)}</p>" + bundle["text/html"], "text/plain": self.text}


class Finding:
    """A cause of lost time: a sentence, its numbers, and the view that shows it."""

    def __init__(self, run: "Run", raw: Dict[str, Any]) -> None:
        self.run, self.raw = run, raw
        self.kind, self.severity, self.text = str(raw["kind"]), str(raw["severity"]), str(raw["text"])
        self.lost, self.share = raw["lost"], raw["share"]
        self.evidence: List[Dict[str, Any]] = raw["evidence"]
        self.advice = str(raw.get("next") or "")

    def view(self, **options: Any) -> View:
        """Returns the view that shows it, at the time that it is about."""
        chosen = {k: v for k, v in (self.raw.get("options") or {}).items()}
        about = self.raw.get("selection") or {}
        if about.get("end"):
            chosen.update(from_=f"{about['begin']}ns", to=f"{about['end']}ns")
        return self.run.view(self.raw["view"] or "findings", **{**chosen, **options})

    def __repr__(self) -> str:
        return f"{self.severity}: {self.text}"


class Findings(List[Finding]):
    """The findings of a run, the most severe first. A notebook shows whole sentences."""

    def df(self) -> Any:
        """Returns a row per finding: a DataFrame, without pandas a list of dicts."""
        names = ("kind", "severity", "lost", "unit", "share", "text", "view")
        return _records([{n: f.raw.get(n) for n in names} for f in self])

    def _repr_html_(self) -> str:
        if not self:
            return "<p>No finding: nothing that the rules know stands out.</p>"
        rows = "".join(
            f"<tr><td>{html.escape(f.severity)}</td><td>{html.escape(f.kind)}</td>"
            f"<td>{'' if f.share is None else f'{100 * f.share:.1f} %'}</td>"
            f'<td style="text-align:left;white-space:normal">{html.escape(f.text)}</td></tr>' for f in self)
        return ('<table><thead><tr><th>severity</th><th>kind</th><th>lost</th><th style="text-align:left">finding</th>'
                "</tr></thead>"
                f"<tbody>{rows}</tbody></table>")

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "no findings"


class Workbench:
    """The page of the program, in a frame."""

    def __init__(self, address: str, height: int) -> None:
        self.address, self.height = address, height

    def _repr_html_(self) -> str:
        address = html.escape(self.address, quote=True)
        return (f'<iframe src="{address}" width="100%" height="{self.height}" style="border:0" title="Parallax" '
                'allow="clipboard-write; fullscreen"></iframe>'
                f'<p><a href="{address}" target="_blank">In a tab of its own</a></p>')

    def __repr__(self) -> str:
        return self.address


class Report:
    """A report of a run, as one HTML page without scripts."""

    def __init__(self, run: "Run", text: str) -> None:
        self.run, self.html = run, text

    def save(self, path: "Union[str, os.PathLike[str]]") -> str:
        """Writes the page and returns its path."""
        with builtins.open(path, "w", encoding="utf-8") as f:
            f.write(self.html)
        return os.fspath(path)

    def _repr_html_(self) -> str:
        # In a frame of its own, without scripts: its styles stay there.
        return (f'<iframe srcdoc="{html.escape(self.html, quote=True)}" sandbox="" width="100%" height="640" '
                f'style="border:0" title="Report of {html.escape(self.run.name, quote=True)}"></iframe>')

    def __repr__(self) -> str:
        return f"<report of {self.run.name}, {len(self.html) >> 10} KiB>"


# -- runs ----------------------------------------------------------------------------------------------

_BY = {"region": "region, role", "location": "location, path", "callpath": "callpath, region"}


class Run:
    """An open run. Close it, or use it in a with statement; several may be open at once."""

    def __init__(self, child: _Child, state: Dict[str, Any]) -> None:
        self._child, self._closed = child, False
        self.id, self.name, self.format = str(state["id"]), str(state["name"]), str(state["format"])
        self.missing: Dict[str, str] = state.get("missing") or {}
        self._info: Optional[Dict[str, Any]] = None
        child.use(self.id)

    def _ask(self, method: str, path: str, body: Any = None, accept: str = "application/json") -> _Answer:
        if self._closed:
            raise ParallaxError(f"the run {self.name} is closed", "open it again", "ended")
        return self._child.ask(method, f"/api/runs/{quote(self.id)}{path}", body, accept)

    def _bytes(self, method: str, path: str, body: Any = None) -> bytes:
        with self._ask(method, path, body) as answer:
            return answer.read()

    @property
    def info(self) -> Dict[str, Any]:
        """The contents of the run in numbers: intervals, ranks, regions, length, notes of the import."""
        if self._info is None:
            self._info = json.loads(self._bytes("GET", "/info"))
        return self._info

    def findings(self) -> Findings:
        """Returns the causes of lost time, the most severe first."""
        data = self.view("findings").data["data"]
        return Findings(Finding(self, f) for f in data["findings"])

    def _stream(self, sql: str, params: Params, accept: str = _ARROW + "; dictionaries=yes") -> _Answer:
        given = dict(params) if isinstance(params, Mapping) else None if params is None else list(params)
        return self._ask("POST", "/query", {"sql": sql, "params": given}, accept)

    @overload
    def query(self, sql: str, params: Params = None, *, to: Literal["pandas"] = "pandas") -> pandas.DataFrame: ...

    @overload
    def query(self, sql: str, params: Params = None, *, to: Literal["arrow"]) -> pyarrow.Table: ...

    @overload
    def query(self, sql: str, params: Params = None, *, to: Literal["polars"]) -> polars.DataFrame: ...

    @overload
    def query(self, sql: str, params: Params = None, *, to: Literal["dict"]) -> Dict[str, List[Any]]: ...

    def query(self, sql: str, params: Params = None, *, to: str = "pandas") -> Any:
        """Returns the rows of SQL over the run: `parallax docs tables` lists tables and columns.

        params are values for ? (a list) or :name (a mapping). to: pandas, arrow, polars, or dict for lists.
        """
        _known(to)
        if to in ("arrow", "polars"):
            with self._stream(sql, params, _ARROW) as answer:
                return _by_library(answer, to)
        with self._stream(sql, params) as answer:
            stream = _Stream(answer)
            rows = int(answer.response.headers.get("Parallax-Rows") or 0)
            if rows * len(stream.columns) * 8 > _MOST:
                raise _too_large(f"{rows:,} rows of {len(stream.columns)} columns")
            if to == "pandas":
                arrays = _Arrays(stream.columns, rows)
                while stream.fill(arrays) >= 0:
                    _bounded(answer)
                return arrays.frame()
            batches = []
            for batch in stream.batches():
                batches.append(batch)
                _bounded(answer)
        return _lists(stream.columns, batches)

    def batches(self, sql: str, params: Params = None, *, to: str = "pandas") -> Iterator[Any]:
        """Yields the rows of SQL in batches of up to 65,536: any size in bounded memory."""
        _known(to)
        with self._stream(sql, params) as answer:
            stream = _Stream(answer)
            while to == "pandas":
                arrays = _Arrays(stream.columns, 0)
                if stream.fill(arrays) < 0:
                    return
                yield arrays.frame()
            for batch in stream.batches():
                lists = _lists(stream.columns, [batch])
                yield lists if to == "dict" else _from_lists(lists, to)

    def save(self, sql: str, path: "Union[str, os.PathLike[str]]", params: Params = None) -> str:
        """Writes the rows of SQL to a file that ends in .parquet, .arrow or .csv. Returns its path."""
        path = os.fspath(path)
        kind = _KINDS.get(os.path.splitext(path)[1].lower())
        if kind is None:
            raise ParallaxError(f"{path}: the name must end in one of {' '.join(_KINDS)}", kind="usage")
        part = path + ".part"
        try:
            with self._stream(sql, params, kind) as answer, builtins.open(part, "wb") as f:
                for piece in answer.pieces():
                    f.write(piece)
            os.replace(part, path)
        finally:
            if os.path.exists(part):
                os.remove(part)
        return path

    def profile(self, by: "Union[str, Sequence[str]]" = "region", from_: Any = None, to: Any = None) -> Any:
        """Returns time and calls by region, rank, location, role, callpath or several of these.

        A recursion counts once. from_ and to are nanoseconds, for runs with times.
        """
        names = [by] if isinstance(by, str) else list(by)
        for n in names:
            if n not in ("region", "rank", "location", "role", "callpath", "path", "category"):
                raise ParallaxError(f"by={n!r}: want region, rank, location, role, category or callpath", kind="usage")
        keys = ", ".join(_BY.get(n, n) for n in names)
        if self.info["intervals"] and "callpath" not in names:
            return _default(self, f"select {keys}, sum(calls) as calls, sum(inclusive) as inclusive, sum(exclusive) as "
                                  f"exclusive from time_in(?, ?) group by {keys} order by exclusive desc", [from_, to])
        if from_ is not None or to is not None:
            raise ParallaxError("a profile knows no times: leave out from_ and to", kind="usage")
        keys = keys.replace(", role", "")
        return _default(self, f"select {keys}, metric, unit, sum(calls) as calls, sum(inclusive) as inclusive, "
                              "sum(exclusive) as exclusive from profile where flat = (select min(flat) from profile) "
                              f"group by {keys}, metric, unit order by exclusive desc")

    def calls(self, by: str = "region") -> Any:
        """Returns how long calls take, by region or by location and region: counts, means, quantiles."""
        return _default(self, "select * from calls(null, null, ?) order by p99 desc", [by])

    def links(self, kind: Optional[str] = None) -> Any:
        """Returns messages, collectives, launches and other links between locations."""
        return _default(self, "select * from links" + (" where kind = ?" if kind else ""), [kind] if kind else None)

    def steps(self) -> Any:
        """Returns a row per step and rank of a GPU job, with its parts in nanoseconds."""
        places = self.query("select path, rank from locations", to="dict")
        ranks = dict(zip(places["path"], places["rank"]))
        rows = self.view("steps", by="all").data["data"]["rows"]
        return _records([{"step": r["step"], "rank": ranks.get(r["path"]),
                          **{k: v for k, v in r.items() if not isinstance(v, (list, dict)) and k != "step"}}
                         for r in rows])

    def busy(self, bins: Optional[int] = None) -> Any:
        """Returns the busy time of every location, in bins of time where their number is given."""
        return _default(self, "select * from busy(?)", [bins])

    def tree(self, metric: str = "time") -> List[Dict[str, Any]]:
        """Returns the call tree in Hatchet's literal form, times in seconds: GraphFrame.from_literal(run.tree())."""
        data = self.view("calltree", **({} if metric == "time" else {"metric": metric})).data["data"]
        scale = 1e9 if data["unit"] == "ns" else 1
        nodes: Dict[Any, Dict[str, Any]] = {}
        roots: List[Dict[str, Any]] = []
        for n in data["nodes"]:
            values = {metric: (n["exclusive"] or 0) / scale, metric + " (inc)": (n["inclusive"] or 0) / scale}
            if n.get("calls") is not None:
                values["calls"] = n["calls"]
            frame = {"name": n["region"] or "(unknown)", "type": "function"}
            node = {"frame": frame, "metrics": values, "children": []}
            nodes[n["id"]] = node
            (roots if n["parent"] is None else nodes[n["parent"]]["children"]).append(node)
        return roots

    def view(self, name: str, **options: Any) -> View:
        """Returns a view. Options are those of `parallax views NAME`: from_ for from, lists for repeated ones."""
        return View(self, name, options)

    def workbench(self, height: int = 640, origin: Optional[str] = None) -> Workbench:
        """Returns the page in a frame. origin is that of the notebook, such as http://localhost:8888."""
        at = self._child.json("POST", "/api/frame", {"origin": origin or "http://localhost:8888"})["address"]
        return Workbench(f"{at}&run={quote(self.id)}", height)

    def report(self) -> Report:
        """Returns findings, pictures and tables as one page."""
        return Report(self, self._bytes("GET", "/report").decode())

    def close(self) -> None:
        """Closes the run."""
        if not self._closed:
            self._closed = True
            self._child.release(self.id)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._closed:
            return f"<{self.name}, closed>"
        what = [(self.info["ranks"], "ranks"), (self.info["intervals"], "intervals"),
                (self.info["profile_rows"], "rows of a profile")]
        return f"<{self.name}: {self.format}, {', '.join(f'{n:,} {word}' for n, word in what if n) or 'empty'}>"


def _known(to: str) -> None:
    if to not in ("pandas", "arrow", "polars", "dict"):
        raise ParallaxError(f"to={to!r}: want pandas, arrow, polars or dict", kind="usage")


def _too_large(what: str) -> ParallaxError:
    return ParallaxError(f"the result is too large to hold: {what}",
                         "use batches() or save(), fewer columns, a limit, or add up in SQL", "too-large")


def _bounded(answer: _Answer) -> None:
    if answer.count > _MOST:
        raise _too_large(f"more than {_MOST >> 30} GiB")


def _by_library(answer: _Answer, to: str) -> Any:
    parts = []
    for part in answer.pieces():
        _bounded(answer)
        parts.append(part)
    data = b"".join(parts)
    del parts
    if to == "polars":
        import polars
        return polars.read_ipc_stream(data)
    import pyarrow
    return pyarrow.ipc.open_stream(data).read_all()


def _from_lists(lists: Dict[str, List[Any]], to: str) -> Any:
    if to == "polars":
        import polars
        return polars.DataFrame(lists)
    import pyarrow
    return pyarrow.table(lists)


def _default(run: Run, sql: str, params: Params = None) -> Any:
    """Rows as a DataFrame, without pandas as lists."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        return run.query(sql, params, to="dict")
    return run.query(sql, params)


# -- opening -------------------------------------------------------------------------------------------

def open_all(source: Source, *, format: Optional[str] = None, join: bool = False, align: Optional[str] = None,
             name: Optional[str] = None, source_dirs: Sequence[str] = (), progress: Progress = None) -> List[Run]:
    """Imports sources if needed and opens every run in them, such as those of a directory."""
    for d in source_dirs:
        if not os.path.isdir(d):
            raise ParallaxError(f"source_dirs: {d!r} is no directory", kind="usage")
    sources = [os.fspath(s) for s in ([source] if isinstance(source, (str, os.PathLike)) else source)]
    if not sources or "" in sources:
        raise ParallaxError("open: want a file, a directory, an archive or demo:NAME", kind="usage")
    child = _server()
    body = {"sources": [s if re.match(r"(demo|clickhouse):", s) else os.path.abspath(s) for s in sources],
            "format": format or "", "join": join, "align": align or "none", "name": name or "",
            "sourceDirs": [os.path.abspath(d) for d in source_dirs]}
    state = child.json("POST", "/api/runs", body)[0]
    tell = _teller(progress, state["name"])
    wait = 0.005
    try:
        while state["state"] == "importing":
            time.sleep(wait)
            wait = min(2 * wait, 0.2)
            states = {s["id"]: s for s in child.json("GET", "/api/runs")}
            state = states.get(state["id"], state)
            tell(state["progress"])
    except BaseException:  # Ctrl+C ends the import
        child.bytes("DELETE", f"/api/runs/{quote(state['id'])}")
        raise
    tell(1.0)
    if state["state"] == "failed":
        child.bytes("DELETE", f"/api/runs/{quote(state['id'])}")
        raise _error(state["error"])
    if not state["runs"]:
        return [_noted(Run(child, state))]
    states = {s["id"]: s for s in child.json("GET", "/api/runs")}
    return [_noted(Run(child, states[i])) for i in state["runs"] if i in states]


def open(source: Source, *, format: Optional[str] = None, join: bool = False, align: Optional[str] = None,  # noqa: A001
         name: Optional[str] = None, source_dirs: Sequence[str] = (), progress: Progress = None) -> Run:
    """Imports sources if needed and opens them as one run: a file, a directory, an archive, demo:NAME.

    format reads as this format; join reads several files as one run; align fits clocks by messages,
    collectives or auto, where they disagree; source_dirs hold the program's source; progress is a
    function of the share done, or whether a line shows it.
    """
    runs = open_all(source, format=format, join=join, align=align, name=name, source_dirs=source_dirs,
                    progress=progress)
    if len(runs) > 1:
        names = ", ".join(r.name for r in runs[:4]) + (" …" if len(runs) > 4 else "")
        for r in runs:
            r.close()
        raise ParallaxError(f"{source} holds {len(runs)} runs: {names}", "open_all() opens each of them", "usage")
    return runs[0]


def _noted(run: Run) -> Run:
    """Warns of what the import left out or guessed, once a run."""
    notes = [f"{n['kind']}: {n['what']}" + (f" ({n['count']:,})" if n["count"] > 1 else "")
             + (f": {n['consequence']}" if n["consequence"] else "")
             for n in run.info["report"] if n["lost"] or n["kind"] == "guessed"]
    if notes:
        warnings.warn("\n  ".join([f"{run.name}:"] + notes), stacklevel=4)
    return run


def _teller(progress: Progress, name: str) -> Callable[[float], None]:
    """How progress is shown: by a function, in a notebook, on a terminal, or not at all."""
    if callable(progress):
        return progress
    began, shown = time.monotonic(), []  # type: float, List[Any]
    notebook = "IPython" in sys.modules and getattr(sys.modules["IPython"], "get_ipython", lambda: None)() is not None
    if progress is False or not (progress or notebook or sys.stderr.isatty()):
        return lambda share: None

    def tell(share: float) -> None:
        if time.monotonic() - began < 0.5 or share >= 1 and not shown:
            return  # what is there at once needs no line
        text = f"importing {name}: {100 * share:.0f} %" if share < 1 else f"imported {name}"
        if not notebook:
            print("\r" + text, end="\n" if share >= 1 else "", file=sys.stderr)
            shown.append(None)
        elif shown:
            shown[0].update({"text/plain": text}, raw=True)
        else:
            from IPython.display import display
            shown.append(display({"text/plain": text}, raw=True, display_id=True))

    return tell


def compare(before: Union[Run, Sequence[Run]], after: Union[Run, Sequence[Run]], **options: Any) -> Comparison:
    """Compares runs with runs: .text says the changes, .df() has rows, a notebook shows the picture."""
    a, b = ([x] if isinstance(x, Run) else list(x) for x in (before, after))
    if not a or not b:
        raise ParallaxError("compare: want runs on both sides", kind="usage")
    if len(a) > 1:  # sides are told apart by names, which are patterns
        options = {"a": [_pattern(r.name) for r in a], "b": [_pattern(r.name) for r in b], **options}
    return Comparison(a[0], "compare", {"with": a[1:] + b, **options})


def _pattern(name: str) -> str:
    return re.sub(r"([*?\[\]\\])", r"\\\1", name)
