#!/usr/bin/env python3
"""Writes the trace.dat files of this folder. It follows trace-cmd.dat.v6(5) and v7(5) and shares no code with the reader.

usage: trace_dat.py trappy.trace.dat OUTDIR

small-v6.dat   trappy's file with only the formats and names that its events use
small-v7.dat   the same as sections, packed with zlib, with the two sections of options that trace-cmd writes
made-v6.dat    64-bit, made up: switches, wake-ups, a mark, functions of the function_graph tracer, a lost event
"""
import struct, sys, zlib, re

def parse(d):
    i = d.index(b'\0', 10) + 1
    p = {'order': d[i], 'long': d[i+1], 'page': struct.unpack('<I', d[i+2:i+6])[0]}
    i += 6
    def sized(fmt):
        nonlocal i
        n = struct.calcsize(fmt); size = struct.unpack(fmt, d[i:i+n])[0]; i += n
        part = d[i:i+size]; i += size
        return part
    assert d[i:i+12] == b'header_page\0'; i += 12; p['header_page'] = sized('<Q')
    assert d[i:i+13] == b'header_event\0'; i += 13; p['header_event'] = sized('<Q')
    def count():
        nonlocal i
        n = struct.unpack('<I', d[i:i+4])[0]; i += 4
        return n
    p['own'] = [sized('<Q') for _ in range(count())]
    p['systems'] = []
    for _ in range(count()):
        e = d.index(b'\0', i); name = d[i:e]; i = e + 1
        p['systems'].append((name, [sized('<Q') for _ in range(count())]))
    p['kallsyms'] = sized('<I'); p['printk'] = sized('<I'); p['cmdlines'] = sized('<Q')
    cpus = count(); assert d[i:i+7] == b'options'; i += 10
    p['options'] = []
    while True:
        o = struct.unpack('<H', d[i:i+2])[0]; i += 2
        if o == 0: break
        p['options'].append((o, sized('<I')))
    assert d[i:i+9] == b'flyrecord'; i += 10
    p['cpus'] = []
    for _ in range(cpus):
        at, n = struct.unpack('<QQ', d[i:i+16]); i += 16
        p['cpus'].append(d[at:at+n])
    return p

def u32(n): return struct.pack('<I', n)
def u64(n): return struct.pack('<Q', n)
def header(p): return b'header_page\0' + u64(len(p['header_page'])) + p['header_page'] + b'header_event\0' + u64(len(p['header_event'])) + p['header_event']
def own(p): return u32(len(p['own'])) + b''.join(u64(len(f)) + f for f in p['own'])
def systems(p): return u32(len(p['systems'])) + b''.join(n + b'\0' + u32(len(l)) + b''.join(u64(len(f)) + f for f in l) for n, l in p['systems'])
def text(part, width): return (u32 if width == 4 else u64)(len(part)) + part

def v6(p):
    out = b'\x17\x08Dtracing6\0' + bytes([p['order'], p['long']]) + u32(p['page']) + header(p) + own(p) + systems(p)
    out += text(p['kallsyms'], 4) + text(p['printk'], 4) + text(p['cmdlines'], 8) + u32(len(p['cpus'])) + b'options  \0'
    for o, v in p['options']: out += struct.pack('<H', o) + u32(len(v)) + v
    out += struct.pack('<H', 0) + b'flyrecord\0'
    at = len(out) + 16 * len(p['cpus']); at = (at + p['page'] - 1) // p['page'] * p['page']
    table, data = b'', b''
    for c in p['cpus']:
        table += u64(at + len(data)) + u64(len(c)); data += c
    out += table
    return out.ljust(at, b'\0') + data

def v7(p):
    out = b'\x17\x08Dtracing7\0' + bytes([p['order'], p['long']]) + u32(p['page']) + b'zlib\x001.2.13\0'
    place = len(out); out += u64(0)
    options = []
    def section(id, part):
        nonlocal out
        packed = zlib.compress(part)
        options.append((id, u64(len(out))))
        out += struct.pack('<HHI', id, 1, 0) + u32(8 + len(packed)) + u32(len(packed)) + u32(len(part)) + packed
    section(16, header(p)); section(17, own(p)); section(18, systems(p))
    section(19, text(p['kallsyms'], 4)); section(20, text(p['printk'], 4)); section(21, text(p['cmdlines'], 8))
    at = len(out); data = b''; table = b''
    for n, c in enumerate(p['cpus']):
        if not c: continue
        begin = at + 12 + len(data)
        chunks = [c[k:k + p['page']] for k in range(0, len(c), p['page'])]
        data += u32(len(chunks))
        for chunk in chunks:
            z = zlib.compress(chunk); data += u32(len(z)) + u32(len(chunk)) + z
        table += u32(n) + u64(begin) + u64(at + 12 + len(data) - begin)
    out += struct.pack('<HHI', 3, 1, 0) + u32(len(data)) + data
    first = options + list(p['options'])
    second = [(3, u64(at) + b'\0local\0' + u32(len(table) // 20) + table)]
    def listed(l, nextat): return b''.join(struct.pack('<H', o) + u32(len(v)) + v for o, v in l) + struct.pack('<H', 0) + u32(8) + u64(nextat)
    begin = len(out); size = len(listed(first, 0))
    b1 = listed(first, begin + 12 + size); b2 = listed(second, 0)
    out += struct.pack('<HHI', 0, 0, 0) + u32(len(b1)) + b1 + struct.pack('<HHI', 0, 0, 0) + u32(len(b2)) + b2
    return out[:place] + u64(begin) + out[place + 8:]

def small(p):
    used = set()
    for c in p['cpus']:
        for at in range(0, len(c), p['page']):
            page = c[at:at + p['page']]; n = struct.unpack('<I', page[8:12])[0] & (1 << 27) - 1; i = 12
            while i < 12 + n:
                h = struct.unpack('<I', page[i:i+4])[0]; k = h & 31; i += 4
                if k == 29 and h >> 5 == 0: break
                if k == 0: size = struct.unpack('<I', page[i:i+4])[0]; used.add(struct.unpack('<H', page[i+4:i+6])[0]); i += (size + 3) & ~3
                elif k < 29: used.add(struct.unpack('<H', page[i:i+2])[0]); i += 4 * k
                elif k == 29: i += struct.unpack('<I', page[i:i+4])[0]
                else: i += 4
    keep = lambda f: int(re.search(rb'ID: (\d+)', f)[1]) in used
    p['own'] = [f for f in p['own'] if keep(f)]
    p['systems'] = [(n, [f for f in l if keep(f)]) for n, l in p['systems'] if any(keep(f) for f in l)]
    p['kallsyms'] = b'\n'.join(p['kallsyms'].split(b'\n')[:20]) + b'\n'
    p['cpus'] = [c[:p['page']] for c in p['cpus']]
    return p

COMMON = '''	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
'''
def fmt(name, id, fields):
    return ('name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: ""\n' % (name, id, COMMON, ''.join('	field:%s;	offset:%d;	size:%d;	signed:%d;\n' % f for f in fields))).encode()

def made():
    p = {'order': 0, 'long': 8, 'page': 4096, 'options': [(1, b'0x5f5e100\0'), (4, b'[local] global\0')],
         'header_page': b'	field: u64 timestamp;	offset:0;	size:8;	signed:0;\n	field: local_t commit;	offset:8;	size:8;	signed:1;\n	field: int overwrite;	offset:8;	size:1;	signed:1;\n	field: char data;	offset:16;	size:4080;	signed:1;\n',
         'header_event': b'# compressed entry header\n', 'printk': b'0xffff0010 : "step %d of %s took %llu\\n"\n',
         'kallsyms': b'ffffffff81000000 T do_syscall_64\nffffffff81000100 t ksys_write\nffffffff81000200 D data\nffffffff81000300 T vfs_write\n',
         'cmdlines': b'100 maker\n200 worker 2\n'}
    p['own'] = [fmt('print', 5, [('unsigned long ip', 8, 8, 0), ('char buf[]', 16, 0, 0)]),
                fmt('bprint', 6, [('unsigned long ip', 8, 8, 0), ('const char * fmt', 16, 8, 0), ('u32 buf[]', 24, 0, 0)]),
                fmt('funcgraph_exit', 10, [('unsigned long func', 8, 8, 0), ('int depth', 16, 4, 1), ('unsigned int overrun', 20, 4, 0),
                                           ('unsigned long long calltime', 24, 8, 0), ('unsigned long long rettime', 32, 8, 0)])]
    p['systems'] = [(b'sched', [fmt('sched_switch', 314, [('char prev_comm[16]', 8, 16, 0), ('pid_t prev_pid', 24, 4, 1), ('int prev_prio', 28, 4, 1), ('long prev_state', 32, 8, 1),
                                                          ('char next_comm[16]', 40, 16, 0), ('pid_t next_pid', 56, 4, 1), ('int next_prio', 60, 4, 1)]),
                                fmt('sched_wakeup', 315, [('char comm[16]', 8, 16, 0), ('pid_t pid', 24, 4, 1), ('int prio', 28, 4, 1), ('int target_cpu', 32, 4, 1)])]),
                    (b'net', [fmt('net_dev_queue', 700, [('void * skbaddr', 8, 8, 0), ('unsigned int len', 16, 4, 0), ('__data_loc char[] name', 20, 4, 0)])])]
    common = lambda id, pid: struct.pack('<HBBi', id, 0, 0, pid)
    comm = lambda s: s.encode().ljust(16, b'\0')
    def switch(prev, pp, state, nxt, np): return common(314, pp) + comm(prev) + struct.pack('<iiq', pp, 120, state) + comm(nxt) + struct.pack('<ii', np, 120)
    def wake(pid, who, by): return common(315, by) + comm(who) + struct.pack('<iii', pid, 120, 1)
    def mark(pid, s): return common(5, pid) + u64(0xffffffff81000000) + s.encode() + b'\0'
    def call(pid, f, a, b): return common(10, pid) + struct.pack('<QiIQQ', f, 0, 0, a, b)
    bprint = common(6, 100) + u64(0) + u64(0xffff0010) + struct.pack('<i', -3) + b'maker\0' + b'\0\0' + struct.pack('<Q', 7 << 32)
    net = common(700, 200) + struct.pack('<QI', 0xffff8880, 60) + u32(24 | 5 << 16) + b'eth0\0'
    t0 = 1_000_000_000
    cpu0 = [(t0, switch('swapper/0', 0, 0, 'maker', 100)), (t0 + 1000, mark(100, 'B|100|fill')), (t0 + 5000, call(100, 0xffffffff81000110, t0 + 2000, t0 + 5000)),
            (t0 + 6000, wake(200, 'worker 2', 100)), (t0 + 7000, bprint), (t0 + 8000, mark(100, 'E|100')), (t0 + 200_000_000, switch('maker', 100, 1, 'swapper/0', 0)),
            (t0 + 300_000_000, switch('swapper/0', 0, 0, 'maker', 100)), (t0 + 301_000_000, switch('maker', 100, 256, 'worker 2', 200))]
    cpu1 = [(t0 + 500, switch('worker 2', 200, 1, 'swapper/1', 0)), (t0 + 9000, switch('swapper/1', 0, 0, 'worker 2', 200)), (t0 + 20000, net), (t0 + 90000, switch('worker 2', 200, 0, 'swapper/1', 0))]
    def page(events, flags=0, lost=None):
        data, last = b'', events[0][0]
        for t, rec in events:
            delta = t - last; last = t
            if delta >= 1 << 27:
                data += u32(30 | (delta & (1 << 27) - 1) << 5) + u32(delta >> 27); delta = 0
            rec = rec + b'\0' * (-len(rec) % 4)
            if len(rec) <= 112: data += u32(len(rec) // 4 | delta << 5) + rec
            else: data += u32(delta << 5) + u32(len(rec) + 4) + rec
        tail = b'' if lost is None else u64(lost)
        return (u64(events[0][0]) + u64(len(data) | flags) + data + tail).ljust(4096, b'\0')
    p['cpus'] = [page(cpu0[:5]) + page(cpu0[5:], 1 << 31 | 1 << 30, 4), page(cpu1)]
    return p

if __name__ == '__main__':
    out = sys.argv[2]
    p = small(parse(open(sys.argv[1], 'rb').read()))
    open(out + '/small-v6.dat', 'wb').write(v6(p)); open(out + '/small-v7.dat', 'wb').write(v7(p))
    open(out + '/made-v6.dat', 'wb').write(v6(made())); open(out + '/made-v7.dat', 'wb').write(v7(made()))
