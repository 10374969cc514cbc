"""Tries the Python module on small data. Arguments: the directory of the module, that of docs/tutorials/data."""
import os
import signal
import sys
import threading
import warnings

sys.path.insert(0, sys.argv[1])
data = sys.argv[2]
warnings.simplefilter("ignore")
import parallax

try:
    import pandas
except ImportError:
    pandas = None


def column(rows, name):
    """A column of rows, whatever they are."""
    return [r[name] for r in rows] if isinstance(rows, list) else list(rows[name])


def raises(kind, f):
    try:
        f()
    except parallax.ParallaxError as e:
        assert e.kind == kind, (e.kind, str(e))
        return str(e)
    raise AssertionError("no error of kind " + kind)


mpi = parallax.open(data + "/hpl32.tar.zst")
gpu = parallax.open(data + "/training-8")
profile = parallax.open(data + "/compile.pprof")

# rows, types, parameters
assert mpi.query("select count(*) as n from intervals", to="dict") == {"n": [mpi.info["intervals"]]}
some = mpi.query("select location, region, parent, duration from intervals where rank = ?", [3], to="dict")
slow = mpi.query("select location, region, parent, duration + 0 as duration from intervals where rank = :r", {"r": 3},
                 to="dict")
assert some == slow and len(some["region"]) > 100 and None in some["parent"]
assert mpi.query("select region, begin from intervals where begin < 0", to="dict") == {"region": [], "begin": []}
batches = list(mpi.batches("select begin, region from intervals", to="dict"))
assert sum(len(b["begin"]) for b in batches) == mpi.info["intervals"]
if pandas:
    f = mpi.query("select region, begin, parent from intervals limit 100")
    assert [str(t) for t in f.dtypes] == ["category", "int64", "Int64"] and f.attrs["units"] == {"begin": "ns"}
    # what is read into arrays is what is read into lists: nulls, words of many batches, sizes that nobody announced
    for sql in ("select * from intervals", "select * from intervals where depth > 0 and duration > 1000", "select * from links",
                "select begin + 1 as b, region, parent, path from intervals", "select id, parent, path from locations",
                "select a.region || b.id as word, b.parent from intervals a, locations b limit 150000",
                "select null as none, 1.5 as half from locations", "select * from intervals where begin < 0"):
        frame, lists = mpi.query(sql), mpi.query(sql, to="dict")
        assert list(frame.columns) == list(lists), sql
        for name in lists:
            assert [None if pandas.isna(x) else x for x in frame[name]] == lists[name], (sql, name)
        parts = [list(b[name]) for b in mpi.batches(sql)]
        assert sum(map(len, parts)) == len(frame), sql
    e = mpi.query("select region, begin, parent from intervals where begin < 0")
    assert str(e.region.dtype) == "category" and str(e.begin.dtype) == "int64", dict(e.dtypes)

# summaries
total = mpi.query("select sum(exclusive) as n from intervals", to="dict")["n"][0]
assert sum(column(mpi.profile(), "exclusive")) == total
assert column(profile.profile(), "region") and column(mpi.calls(), "p99") and column(gpu.steps(), "total")
nodes, todo = [], mpi.tree()
while todo:
    nodes.append(todo.pop())
    todo += nodes[-1]["children"]
assert abs(sum(n["metrics"]["time"] for n in nodes) - total / 1e9) < 1e-6

# findings, pictures, reports, comparison
found = gpu.findings()
assert found and found[0].text in parallax.html.unescape(found._repr_html_())
assert found[0].view().svg.startswith("<svg")
view = mpi.view("timeline", from_="20%", to="30%", width=600, height=300)
assert "data:image/svg+xml" in view._repr_mimebundle_()["text/html"] and view.data["view"] == "timeline"
assert view.save("v.png") == "v.png" and open("v.png", "rb").read(4) == b"\x89PNG"
assert len(view.table()) > 10 and "<iframe" in mpi.report()._repr_html_()
both = parallax.compare(mpi, parallax.open(data + "/hpl32.tar.zst", align="messages", name="aligned"))
assert both.text and column(both.df(), "callpath")
for name, head in (("r.csv", b"begin"), ("r.parquet", b"PAR1"), ("r.arrow", b"ARROW1")):
    mpi.save("select begin, region from intervals", name)
    assert open(name, "rb").read(6).startswith(head) and not os.path.exists(name + ".part")

# errors
assert "/nowhere" in raises("not-found", lambda: parallax.open("/nowhere"))
raises("usage", lambda: parallax.open(data + "/ride.json", format="nonsense"))
assert "want a file" in raises("usage", lambda: parallax.open([]))
assert "/nowhere" in raises("usage", lambda: parallax.open(data + "/ride.json", source_dirs=["/nowhere"]))
assert "nope" in raises("usage", lambda: mpi.query("select nope from intervals"))
assert "by" in raises("usage", lambda: mpi.query("select region from calls(null, null, 'x')", to="dict"))
assert "--rowz" not in raises("usage", lambda: mpi.view("timeline", rowz=1))
raises("needs", lambda: profile.view("timeline"))
raises("usage", lambda: mpi.save("select 1", "x.txt"))
raises("usage", lambda: mpi.query("select 1", to="excel"))
parallax._MOST = 1000
raises("too-large", lambda: mpi.query("select * from intervals", to="dict"))
raises("too-large", lambda: mpi.query("select begin + 1 from intervals", to="dict"))
if pandas:
    raises("too-large", lambda: mpi.query("select * from intervals"))
    raises("too-large", lambda: mpi.query("select begin + 1 as b from intervals"))
assert sum(len(b["begin"]) for b in mpi.batches("select * from intervals", to="dict")) == mpi.info["intervals"]
parallax._MOST = 2 << 30
again = parallax.open(data + "/compile.pprof")
again.close()
raises("ended", lambda: again.query("select 1", to="dict"))
assert profile.query("select 1 as x", to="dict") == {"x": [1]}, "closing one closed the other"

# threads ask at once
answers = []
threads = [threading.Thread(target=lambda: answers.append(mpi.query("select count(*) as n from intervals", to="dict")))
           for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert len(answers) == 4 and all(a == answers[0] for a in answers)

# a child that dies while it answers is told: no rows without their end, no file without its end
for ask in (lambda: [len(b) for b in mpi.batches(LONG, to="dict")], lambda: mpi.save(LONG, "cut.csv"),
            lambda: mpi.save(LONG, "cut.arrow"), lambda: mpi.query(LONG, to="dict")):
    LONG = "select a.begin, b.region from intervals a, intervals b"
    process = parallax._child.process
    killer = threading.Timer(0.3, process.kill)
    killer.start()
    assert "ended" in raises("ended", ask)
    killer.join()
    process.wait()
    mpi = parallax.open(data + "/hpl32.tar.zst")
assert not [n for n in os.listdir(".") if n.startswith("cut.")], os.listdir(".")

# a dead child is told, and the next run has a new one
os.kill(parallax._child.process.pid, signal.SIGKILL)
parallax._child.process.wait()
raises("ended", lambda: mpi.query("select 1"))
assert parallax.open(data + "/ride.json").info["intervals"] > 0
parallax.close()

# no program, another program, another protocol
os.environ["PARALLAX"], os.environ["PATH"] = "/nowhere/parallax", "/nowhere"
os.remove(sys.argv[1] + "/parallax")
assert "/nowhere/parallax" in raises("no-program", lambda: parallax.open(data + "/ride.json"))
for line, word in (("echo hello", "no Parallax"), ("exit 0", "says nothing"), ("echo boom >&2; exit 3", "boom"),
                   ("echo '[1]'", "no Parallax"), ("echo '{\"protocol\": \"1\"}'", "protocol"), ("echo '{\"protocol\": 99, \"version\": \"9\"}'", "protocol 99")):
    with open("other", "w") as f:
        f.write("#!/bin/sh\n" + line + "\n")
    os.chmod("other", 0o700)
    os.environ["PARALLAX"] = os.path.abspath("other")
    assert word in raises("version", lambda: parallax.open(data + "/ride.json"))
print("all hold", "with pandas" if pandas else "without pandas")
