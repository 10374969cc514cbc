#!/usr/bin/env python3
"""Writes the .nettrace files of this folder; it shares no code with the reader.

usage: nettrace.py only_managed_samples.nettrace OUTDIR

managed-v4.nettrace  the first blocks of samples of that file, and the blocks that name its methods
made-v6.nettrace     made up after NetTraceFormat.md: threads with names, samples, a collection, a counter, a list
"""
import struct, sys

def objects(d):
    i = 8; n = struct.unpack('<I', d[i:i+4])[0]; i += 4 + n
    while d[i] == 5:
        n = struct.unpack('<I', d[i+11:i+15])[0]; name = d[i+15:i+15+n].decode(); head = d[i:i+15+n+1]; i += 15 + n + 1
        if name == 'Trace': size = 48
        else:
            size = struct.unpack('<I', d[i:i+4])[0]; i += 4; i += -i % 4
        yield name, head, d[i:i+size]
        i += size; assert d[i] == 6; i += 1

def extract(d):
    out = d[:32]
    blocks = list(objects(d)); events = [k for k, b in enumerate(blocks) if b[0] == 'EventBlock']
    keep = set(events[2:4] + [k for k in events if len(blocks[k][2]) > 50000])
    for k, (name, head, b) in enumerate(blocks):
        if name == 'EventBlock' and k not in keep: continue
        out += head
        if name != 'Trace':
            out += struct.pack('<I', len(b)); out += b'\0' * (-len(out) % 4)
        out += b + b'\x06'
    return out + b'\x01'

def var(n):
    out = b''
    while n >= 128: out += bytes([n & 127 | 128]); n >>= 7
    return out + bytes([n])
def text(s): s = s.encode(); return var(len(s)) + s
def wide(s): return s.encode('utf-16-le') + b'\0\0'
def block(kind, b): return struct.pack('<I', len(b) | kind << 24) + b
def sized(b): return struct.pack('<H', len(b)) + b
def fields(l): return struct.pack('<H', len(l)) + b''.join(sized(text(n) + t) for n, t in l)

def made():
    out = b'Nettrace' + struct.pack('<III', 0, 6, 0)
    out += block(1, struct.pack('<8hQQII', 2026, 3, 0, 1, 12, 0, 0, 5, 1000, 10_000_000, 8, 2) + text('ProcessId') + text('77') + text('HardwareThreadCount') + text('4'))
    kinds = [(1, 'Microsoft-DotNETCore-SampleProfiler', 0, 'ThreadSample', []), (2, 'Microsoft-Windows-DotNETRuntime', 1, 'GCStart', [('Count', b'\x0a')]),
             (3, 'Microsoft-Windows-DotNETRuntime', 2, 'GCEnd', []), (4, 'Microsoft-Windows-DotNETRuntimeRundown', 144, 'MethodDCEndVerbose', []),
             (5, 'System.Runtime', 0, 'EventCounters', [('Payload', b'\x01' + fields([('Name', b'\x12'), ('Mean', b'\x0e'), ('DisplayUnits', b'\x12')]))]),
             (6, 'Shop', 7, 'Ordered', [('Items', b'\x13\x09'), ('Total', b'\x15'), ('Paid', b'\x1a')]),
             (7, 'Microsoft-Windows-DotNETRuntimeRundown', 154, 'ModuleDCEnd', [])]
    out += block(3, struct.pack('<H', 0) + b''.join(sized(var(i) + text(p) + var(e) + text(n) + fields(f) + struct.pack('<H', 0)) for i, p, e, n, f in kinds))
    out += block(6, sized(var(1) + b'\x01' + text('main') + b'\x02' + var(77) + b'\x03' + var(7700)) + sized(var(2) + b'\x03' + var(7702)))
    stack = lambda *l: struct.pack('<I', 8 * len(l)) + struct.pack('<%dQ' % len(l), *l)
    out += block(5, struct.pack('<II', 1, 2) + stack(0x2010, 0x1020) + stack(0x9000, 0x2014, 0x1020))
    last = {'meta': 0, 'seq': 0, 'cap': 0, 'proc': 0, 'thread': 0, 'stack': 0, 'time': 0, 'size': 0}
    def event(meta, thread, stack, time, payload, seq):
        flags, b = 0, b''
        if meta != last['meta']: flags |= 1; b += var(meta)
        if (thread, 0) != (last['cap'], last['proc']) or seq != last['seq'] + 1:
            flags |= 2; b += var(seq - 1 - last['seq'] & 0xffffffff) + var(thread) + var(0)
        if thread != last['thread']: flags |= 4; b += var(thread)
        if stack != last['stack']: flags |= 8; b += var(stack)
        b += var(time - last['time'])
        if len(payload) != last['size']: flags |= 128; b += var(len(payload))
        last.update(meta=meta, seq=seq, cap=thread, thread=thread, stack=stack, time=time, size=len(payload))
        return bytes([flags]) + b + payload
    def method(begin, size, space, name): return struct.pack('<QQQIII', 1, 5, begin, size, 0, 0) + wide(space) + wide(name) + wide('void ()') + b'\0\0'
    u32 = lambda n: struct.pack('<I', n)
    ev = [event(1, 1, 1, 1000, u32(2), 1), event(1, 1, 2, 11000, u32(1), 2), event(2, 1, 0, 15000, u32(1), 3), event(3, 1, 0, 18000, u32(1), 4),
          event(1, 1, 1, 21000, u32(2), 7), event(1, 2, 1, 21500, u32(2), 1),
          event(5, 1, 0, 25000, wide('cpu-usage') + struct.pack('<d', 12.5) + wide('%'), 8),
          event(6, 2, 0, 26000, struct.pack('<H2i', 2, -4, 9) + var(300) + b'\x01', 2), event(1, 1, 1, 31000, u32(2), 9),
          event(4, 1, 0, 40000, method(0x1000, 0x100, 'Shop', 'Main'), 10), event(4, 1, 0, 40001, method(0x2000, 0x40, 'Shop.Cart', 'Add'), 11),
          event(7, 1, 0, 40002, struct.pack('<QQII', 5, 1, 0, 0) + wide('C:\\app\\Shop.dll') + wide(''), 12)]
    out += block(2, struct.pack('<HHQQ', 20, 1, 1000, 40002) + b''.join(ev))
    out += block(4, struct.pack('<QII', 40003, 0, 0)) + block(99, b'new') + block(0, b'')
    return out

if __name__ == '__main__':
    open(sys.argv[2] + '/managed-v4.nettrace', 'wb').write(extract(open(sys.argv[1], 'rb').read()))
    open(sys.argv[2] + '/made-v6.nettrace', 'wb').write(made())
