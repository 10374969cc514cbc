# Writes the samples beside it with Python's sqlite3, each with what SQLite reads back.
import sqlite3, os
here = os.path.dirname(os.path.abspath(__file__))

def show(v):
    if v is None: return "null"
    if isinstance(v, bytes): return v.hex()
    if isinstance(v, float): return "%d" % v if v.is_integer() else "%.6f" % v
    return str(v)

def make(name, page, encoding, fill):
    path = os.path.join(here, name + ".sqlite")
    if os.path.exists(path): os.remove(path)
    c = sqlite3.connect(path)
    c.execute("pragma page_size=%d" % page)
    c.execute("pragma encoding='%s'" % encoding)
    fill(c)
    c.commit()
    with open(os.path.join(here, name + ".txt"), "w") as out:
        for table, in c.execute("select name from sqlite_master where type='table' order by rowid").fetchall():
            cur = c.execute("select * from %s order by rowid" % table)
            out.write("%s: %s\n" % (table, ", ".join(d[0] for d in cur.description)))
            for row in cur: out.write(" | ".join(show(v) for v in row) + "\n")
    c.close()

def types(c):
    c.execute("create table t (id integer primary key, a, b real, c text)")
    n = [0, 1, -1, 127, -128, 128, 32767, -32769, 8388607, -8388609, 2**31 - 1, -2**31 - 1, 2**47 - 1, -2**47 - 1, 2**63 - 1, -2**63]
    for i, v in enumerate(n): c.execute("insert into t values (?, ?, ?, ?)", (10 * i, v, v / 7, "zahl %d ä" % i))
    c.execute("insert into t values (1000, ?, null, '')", (b"\x00\x01\xff",))
    c.execute("alter table t add column late text")
    c.execute("insert into t values (1001, 'x', 2.5, 'y', 'now')")
    c.execute("create index t_a on t (a)")
    c.execute("create view v as select * from t")

def overflow(c):
    c.execute("create table big (k text, v text)")
    for n in (10, 400, 476, 477, 478, 600, 5000, 30000): c.execute("insert into big values (?, ?)", ("n%d" % n, "abcdefgh" * (n // 8) + "x" * (n % 8)))

def deep(c):
    c.execute("create table deep (id integer primary key, v integer)")
    for i in range(3000): c.execute("insert into deep values (?, ?)", (i * 3, (i * 7919) % 1000003))

make("types", 1024, "UTF-8", types)
make("types-utf16", 1024, "UTF-16be", types)
make("overflow", 512, "UTF-8", overflow)
make("deep", 512, "UTF-8", deep)
