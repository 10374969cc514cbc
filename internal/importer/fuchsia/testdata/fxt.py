#!/usr/bin/env python3
"""Writes made.fxt, after Fuchsia's trace-format.md; it shares no code with the reader."""
import struct, sys

out = b''
def words(*l): return b''.join(struct.pack('<Q', w & (1 << 64) - 1) for w in l)
def pad(s): return s + b'\0' * (-len(s) % 8)
def record(kind, rest, body):
    global out
    n = 1 + len(body) // 8
    out += words(kind | n << 4 | rest) + body
def string(i, s): b = s.encode(); record(2, i << 16 | len(b) << 32, pad(b))
def thread(i, p, t): record(3, i << 16, words(p, t))
def inline(s): b = s.encode(); return 0x8000 | len(b), pad(b)
def arg_i32(name, v): return words(1 | 1 << 4 | name << 16 | (v & 0xffffffff) << 32)
def arg_f64(name, v): return words(5 | 2 << 4 | name << 16) + struct.pack('<d', v)
def arg_str(name, s): r, b = inline(s); return words(6 | (1 + len(b) // 8) << 4 | name << 16 | r << 32) + b
def arg_koid(name, v): return words(8 | 2 << 4 | name << 16, v)
def event(kind, th, cat, name, t, args=(), extra=()): record(4, kind << 16 | len(args) << 20 | th << 24 | cat << 32 | name << 48, words(t) + b''.join(args) + words(*extra))

def part(base):
    record(1, 0, words(2_000_000_000))               # two ticks a nanosecond
    string(1, 'gfx'); string(2, 'draw'); string(3, 'frame'); string(4, 'temperature'); string(5, 'process'); string(6, 'load'); string(7, 'wait vsync')
    thread(1, 100, base + 1); thread(2, 100, base + 2)
    for koid, kind, name in ((100, 1, 'compositor'), (base + 1, 2, 'main'), (base + 2, 2, 'worker')):
        r, b = inline(name)
        args = [arg_koid(5, 100)] if kind == 2 else []
        record(7, kind << 16 | r << 24 | len(args) << 40, words(koid) + b + b''.join(args))
    event(2, 1, 1, 2, 2000, [arg_i32(3, -7), arg_str(6, 'high, very')])
    event(4, 1, 1, 7, 3000, [], [5000])
    event(8, 1, 1, 3, 3500, [], [77])                # a flow from main to worker
    event(3, 1, 1, 2, 9000)
    event(4, 2, 1, 2, 6000, [arg_f64(6, 0.5)], [8000])
    event(10, 2, 1, 3, 6500, [], [77])
    event(5, 1, 1, 3, 2500, [], [5]); event(6, 1, 1, 3, 2600, [], [5]); event(7, 2, 1, 3, 9500, [], [5])
    event(1, 1, 1, 4, 4000, [arg_i32(4, 41)], [0]); event(1, 1, 1, 4, 8000, [arg_i32(4, 43)], [0])
    event(0, 2, 1, 3, 7000)
    r, b = inline('inline name'); r2, b2 = inline('cat')  # all in place
    record(4, 0 << 16 | r2 << 32 | r << 48, words(7100, 100, base + 2) + b2 + b)
    text = 'the display is on'.encode(); record(9, len(text) << 16 | 1 << 32, words(8200) + pad(text))

out += bytes([0x10, 0, 4, 0x46, 0x78, 0x54, 0x16, 0])
record(0, 1 << 16 | 1 << 20 | 5 << 52, pad(b'first')); part(200)
record(0, 1 << 16 | 2 << 20 | 6 << 52, pad(b'second')); part(300)
record(0, 2 << 16 | 1 << 20, b''); event(0, 1, 1, 2, 10000)             # back to the first
record(8, 0 << 16 | 3 << 24 | 1 << 28 | 2 << 36, words(2000))            # old: main leaves, blocked, worker comes
record(8, 1 << 60 | 3 << 36, words(4000, 202, 201))
record(8, 2 << 60, words(4400, 202))
record(8, 1 << 60 | 1 << 20 | 3 << 36, words(5000, 999, 202))
record(8, 1 << 60 | 1 << 20 | 3 << 36, words(9000, 202, 999))
record(0, 3 << 16 | 1 << 20, b'')                                       # its buffer was full
record(5, 0x8003 << 16 | 4 << 32 | 1 << 48, pad(b'abc') + pad(b'data'))
open(sys.argv[1] + '/made.fxt', 'wb').write(out)
