"""Writes made.darshan: a big-endian log of version 3.41, packed with bzip2, that holds what other
samples do not: a heat map, segments with threads, HDF5 and PnetCDF records, a region of two
packed streams, a module that is not read, and an impossible time."""
import bz2, struct

def ints(*v): return struct.pack(">%dq" % len(v), *v)
def nums(*v): return struct.pack(">%dd" % len(v), *v)
def rec(id, rank, whole, broken, skip=b""): return struct.pack(">Qq", id, rank) + skip + ints(*whole) + nums(*broken)

def table(n, **at):
    out = [0] * n
    for k, v in at.items(): out[int(k[1:])] = v
    return out

names = {1: "/scratch/in.h5", 2: "/scratch/out.nc", 3: "heatmap:POSIX", 4: "/scratch/in.h5:temperature"}
name_bytes = b"".join(struct.pack(">Q", k) + v.encode() + b"\0" for k, v in names.items())
job = ints(1000, 1700000000, 250000000, 1700000002, 750000000, 4, 77) + b"lib_ver=3.4.1\n".ljust(1024, b"\0") + b"./model -n 4\next4\t/scratch\n"
posix = [rec(1, 0, table(69, _0=2, _3=10, _5=1, _14=4096), table(17, _8=0.5, _10=0.001)),
         rec(1, 1, table(69, _0=1, _1=-1, _4=5, _15=512), table(17, _9=0.25, _10=float("nan"))),
         rec(9, 7, table(69), table(17))]
h5f = rec(1, -1, [4, 1, 1], table(5, _4=0.125))
h5d = rec(4, -1, table(94, _0=4, _1=8, _4=1 << 20), table(17, _8=1.5), struct.pack(">Q", 1))
ncf = rec(2, 2, table(9, _0=1, _1=1, _5=2, _7=64), table(8, _6=0.01))
ncv = rec(2, 2, table(120, _2=3, _4=1, _8=64), table(17, _9=0.02), struct.pack(">Q", 2))
std = rec(2, 3, table(14, _0=1, _3=7, _6=70), table(15, _0=0.001, _1=0.002))
def seg(off, length, a, b, thread): return ints(off, length) + nums(a, b) + ints(thread)
dxt = struct.pack(">Qqq", 1, 0, 0) + b"node1".ljust(64, b"\0") + ints(1, 2) + seg(0, 8, 0.5, 0.75, 11) + seg(8, 8, 0.25, 0.375, 12) + seg(16, 8, 0.375, 0.4375, 11)
heat = struct.pack(">Qqdqqq", 3, 0, 0.1, 4, 0, 0) + ints(0, 5, 5, 0) + ints(7, 0, 0, 1)
mods = {1: [bz2.compress(posix[0]), bz2.compress(posix[1] + posix[2])], 3: [bz2.compress(h5f)], 4: [bz2.compress(h5d)], 5: [bz2.compress(ncf)], 6: [bz2.compress(ncv)],
        8: [bz2.compress(b"x" * 48)], 9: [bz2.compress(std)], 10: [bz2.compress(dxt)], 15: [bz2.compress(heat)]}
vers = {1: 4, 3: 3, 4: 2, 5: 3, 6: 1, 8: 2, 9: 2, 10: 2, 15: 1}
size = 32 + 16 * 65 + 4 * 64
parts, maps = [bz2.compress(job)], []
at = size + len(parts[0])
def put(b):
    global at
    parts.append(b); at += len(b)
    return (at - len(b), len(b))
name_map = put(bz2.compress(name_bytes))
mod_map = [put(b"".join(mods[i])) if i in mods else (0, 0) for i in range(64)]
header = b"3.41".ljust(8, b"\0") + struct.pack(">qB7xQ", 6567223, 1, 1 << 9) + struct.pack(">QQ", *name_map)
header += b"".join(struct.pack(">QQ", *m) for m in mod_map) + b"".join(struct.pack(">I", vers.get(i, 0)) for i in range(64))
assert len(header) == size
open("made.darshan", "wb").write(header + b"".join(parts))
