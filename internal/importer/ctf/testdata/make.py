"""Writes kernel, fields and two: small traces that hold what is rare in real ones."""
import os, struct

KERNEL = r"""/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; }; };
env { hostname = "made"; domain = "kernel"; tracer_name = "lttng-modules"; };
clock { name = "monotonic"; uuid = "25210548-98b9-4ab3-a9de-7d865e4ad32c"; freq = 1000000000; offset = 1700000000000000000; };
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock;
struct packet_context { uint64_clock timestamp_begin; uint64_clock timestamp_end; uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num; unsigned long events_discarded; uint32_t cpu_id; };
struct event_header {
	enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> { struct { uint27_clock timestamp; } compact; struct { uint32_t id; uint64_clock timestamp; } extended; } v;
} align(8);
stream { id = 0; event.header := struct event_header; packet.context := struct packet_context; };
event { name = "sched_switch"; id = 0; stream_id = 0; fields := struct {
	integer { size = 8; encoding = UTF8; } _prev_comm[16]; integer { size = 32; signed = 1; } _prev_tid; integer { size = 64; signed = 1; } _prev_state;
	integer { size = 8; encoding = UTF8; } _next_comm[16]; integer { size = 32; signed = 1; } _next_tid; }; };
event { name = "syscall_entry_read"; id = 1; stream_id = 0; fields := struct { uint32_t _fd; uint64_t _count; }; };
event { name = "syscall_exit_read"; id = 2; stream_id = 0; fields := struct { integer { size = 64; signed = 1; } _ret; }; };
event { name = "irq_handler_entry"; id = 3; stream_id = 0; fields := struct { integer { size = 32; signed = 1; } _irq; string _name; }; };
event { name = "irq_handler_exit"; id = 4; stream_id = 0; fields := struct { integer { size = 32; signed = 1; } _irq; integer { size = 32; signed = 1; } _ret; }; };
event { name = "sched_wakeup"; id = 5; stream_id = 0; fields := struct { integer { size = 8; encoding = UTF8; } _comm[16]; integer { size = 32; signed = 1; } _tid; }; };
event { name = "timer_tick"; id = 40; stream_id = 0; fields := struct { uint32_t _n; }; };
"""

FIELDS = r"""/* CTF 1.8 */
typedef integer { size = 8; } byte;
typealias integer { size = 32; align = 1; map = clock.slow.value; } := stamp;
trace { major = 1; minor = 8; byte_order = be; packet.header := struct { integer { size = 32; } magic; byte stream_id; }; };
env { domain = "bare"; tracer_name = "barectf"; };
clock { name = slow; freq = 1000; offset_s = 10; offset = 500; };
struct pair { integer { size = 16; } a; integer { size = 16; signed = true; } b; };
enum colour : integer { size = 4; align = 1; } { RED, GREEN = 2, "light blue" = 3 ... 5 };
stream { id = 3; event.header := struct { byte id; stamp timestamp; } align(8); };
event { name = "everything"; id = 0; stream_id = 3; fields := struct {
	integer { size = 3; } three; integer { size = 9; signed = true; } nine; integer { size = 23; } many; enum colour shade;
	floating_point { exp_dig = 8; mant_dig = 24; align = 8; } single; floating_point { exp_dig = 11; mant_dig = 53; align = 8; } twice;
	byte n; integer { size = 12; align = 4; } list[n];
	enum : byte { number, words } which; variant <which> { byte number; string words; } chosen;
	integer { size = 8; encoding = ASCII; } letters[5]; struct pair both; integer { size = 16; byte_order = le; } swapped; }; };
event { name = "step_begin"; id = 1; stream_id = 3; fields := struct { integer { size = 32; } step; }; };
event { name = "step_end"; id = 2; stream_id = 3; fields := struct { integer { size = 32; } step; }; };
"""

TWO = r"""{"type":"preamble","version":2}
{"type":"field-class-alias","name":"u8","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian","alignment":8}}
{"type":"trace-class","environment":{"domain":"made","answer":42},"packet-header-field-class":{"type":"structure","member-classes":[{"name":"m","field-class":{"type":"fixed-length-unsigned-integer","length":32,"byte-order":"little-endian","alignment":8,"roles":["packet-magic-number"]}},{"name":"s","field-class":{"type":"fixed-length-unsigned-integer","length":64,"byte-order":"little-endian","alignment":8,"roles":["data-stream-class-id"]}}]}}
{"type":"clock-class","id":"c","name":"c","frequency":1000000,"offset-from-origin":{"seconds":1700000000,"cycles":250000}}
{"type":"data-stream-class","id":0,"default-clock-class-id":"c","packet-context-field-class":{"type":"structure","member-classes":[{"name":"total","field-class":{"type":"fixed-length-unsigned-integer","length":64,"byte-order":"little-endian","alignment":8,"roles":["packet-total-length"]}},{"name":"content","field-class":{"type":"fixed-length-unsigned-integer","length":64,"byte-order":"little-endian","alignment":8,"roles":["packet-content-length"]}},{"name":"begin","field-class":{"type":"fixed-length-unsigned-integer","length":64,"byte-order":"little-endian","alignment":8,"roles":["default-clock-timestamp"]}},{"name":"lost","field-class":{"type":"fixed-length-unsigned-integer","length":64,"byte-order":"little-endian","alignment":8,"roles":["discarded-event-record-counter-snapshot"]}},{"name":"cpu_id","field-class":{"type":"fixed-length-unsigned-integer","length":32,"byte-order":"little-endian","alignment":8}}]},"event-record-header-field-class":{"type":"structure","member-classes":[{"name":"id","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian","alignment":8,"roles":["event-record-class-id"]}},{"name":"t","field-class":{"type":"fixed-length-unsigned-integer","length":64,"byte-order":"little-endian","alignment":8,"roles":["default-clock-timestamp"]}}]}}
{"type":"event-record-class","id":0,"data-stream-class-id":0,"name":"all","payload-field-class":{"type":"structure","member-classes":[{"name":"text","field-class":{"type":"null-terminated-string"}},{"name":"many","field-class":{"type":"variable-length-unsigned-integer"}},{"name":"less","field-class":{"type":"variable-length-signed-integer"}},{"name":"n","field-class":"u8"},{"name":"dynamic","field-class":{"type":"dynamic-length-string","length-field-location":{"origin":"event-record-payload","path":["n"]}}},{"name":"which","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian","alignment":8,"mappings":{"small":[[0,0]],"large":[[1,9]]}}},{"name":"chosen","field-class":{"type":"variant","selector-field-location":{"path":["which"]},"options":[{"name":"a","field-class":"u8","selector-field-ranges":[[0,0]]},{"name":"b","field-class":{"type":"fixed-length-unsigned-integer","length":16,"byte-order":"little-endian","alignment":8},"selector-field-ranges":[[1,9]]}]}},{"name":"there","field-class":"u8"},{"name":"maybe","field-class":{"type":"optional","selector-field-location":{"path":["there"]},"selector-field-ranges":[[1,255]],"field-class":"u8"}},{"name":"signed","field-class":{"type":"fixed-length-signed-integer","length":32,"byte-order":"little-endian","alignment":8}},{"name":"blob","field-class":{"type":"static-length-blob","length":2}}]}}
{"type":"event-record-class","id":1,"data-stream-class-id":0,"name":"work:begin","payload-field-class":{"type":"structure","member-classes":[{"name":"flag","field-class":{"type":"fixed-length-boolean","length":8,"byte-order":"little-endian","alignment":8}}]}}
{"type":"event-record-class","id":2,"data-stream-class-id":0,"name":"work:end","payload-field-class":{"type":"structure","member-classes":[{"name":"n","field-class":"u8"},{"name":"list","field-class":{"type":"dynamic-length-array","length-field-location":{"path":["n"]},"element-field-class":{"type":"fixed-length-unsigned-integer","length":16,"byte-order":"little-endian","alignment":8}}}]}}
"""

class Bits:
    """Bits in one byte order, written one at a time."""
    def __init__(self, big): self.big, self.bits = big, []
    def align(self, n):
        while len(self.bits) % n: self.bits.append(0)
    def int(self, v, size, align=None):
        self.align(align or (8 if size % 8 == 0 else 1))
        b = [(v >> i) & 1 for i in range(size)]
        self.bits += b[::-1] if self.big else b
        return self
    def str(self, s): self.align(8); return self.raw(s.encode() + b"\0")
    def raw(self, b):
        self.align(8)
        for c in b: self.bits += [(c >> i) & 1 for i in range(8)][::-1] if self.big else [(c >> i) & 1 for i in range(8)]
        return self
    def bytes(self):
        self.align(8)
        out = bytearray()
        for i in range(0, len(self.bits), 8):
            b = self.bits[i:i + 8]
            out.append(sum(x << (7 - k if self.big else k) for k, x in enumerate(b)))
        return bytes(out)

def write(name, data):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, "wb").write(data)

# --- kernel: little-endian, metadata in packets, two CPUs, events and a packet lost.
meta = KERNEL.encode()
packed = b""
for i in range(0, len(meta), 900):
    part = meta[i:i + 900]
    packed += struct.pack("<I16sIIIBBBBB", 0x75D11D57, bytes(range(16)), 0, (37 + len(part)) * 8, 8192, 0, 0, 0, 1, 8) + part + b"\0" * (1024 - 37 - len(part))
write("kernel/metadata", packed)

def packet(cpu, seq, lost, begin, end, events):
    b = Bits(False)
    b.int(0xC1FC1FC1, 32).raw(bytes(range(16))).int(0, 32).int(cpu, 64)
    head = len(b.bits)
    b.int(begin, 64).int(end, 64).int(0, 64).int(0, 64).int(seq, 64).int(lost, 64).int(cpu, 32)
    for t, id, fill in events:
        b.align(8)
        if id < 31: b.int(id, 5).int(t & (1 << 27) - 1, 27)
        else: b.int(31, 5); b.align(8); b.int(id, 32).int(t, 64)
        fill(b)
    content = len(b.bits)
    size = (content + 255) // 256 * 256
    out = bytearray(b.bytes().ljust(size // 8, b"\0"))
    at = head // 8
    out[at + 16:at + 32] = struct.pack("<QQ", content, size)
    return bytes(out)

def switch(p, state, n, comm): return lambda b: b.raw(b"x".ljust(16, b"\0")).int(p, 32).int(state, 64).raw(comm.encode().ljust(16, b"\0")).int(n, 32)
def call(fd, n): return lambda b: b.int(fd, 32).int(n, 64)
def ret(v): return lambda b: b.int(v & (1 << 64) - 1, 64)
T = 5_000_000_000
write("kernel/chan_0", packet(0, 0, 0, T, T + 900, [
    (T + 100, 0, switch(0, 0, 42, "worker")), (T + 200, 1, call(3, 4096)), (T + 250, 3, lambda b: b.int(45, 32).str("nvme0")), (T + 270, 4, lambda b: b.int(45, 32).int(1, 32)),
    (T + 300, 0, switch(42, 2, 0, "swapper/0")), (T + 900, 40, lambda b: b.int(7, 32))])
    + packet(0, 2, 5, T + 1000, T + (1 << 27) + 50, [(T + 1000, 0, switch(0, 0, 43, "other")), (T + (1 << 27) + 10, 0, switch(43, 0, 0, "swapper/0"))]))
write("kernel/chan_1", packet(1, 0, 0, T, T + 950, [
    (T + 350, 5, lambda b: b.raw(b"worker".ljust(16, b"\0")).int(42, 32)), (T + 400, 0, switch(0, 0, 42, "worker")), (T + 500, 2, ret(-11)), (T + 600, 0, switch(42, 1, 0, "swapper/1"))]))
write("kernel/index/chan_0.idx", b"index")

# --- fields: big-endian, plain metadata, every kind of field.
write("fields/metadata", FIELDS.encode())
def event(b, t, id, fill):
    b.align(8); b.int(id, 8).int(t, 32, 1); fill(b)
def fields(b):
    b.int(5, 3).int(-3 & 0x1FF, 9).int(0x12345, 23)           # three odd integers
    b.int(2, 4)                                                # an enumeration
    b.raw(struct.pack(">f", 1.5)).raw(struct.pack(">d", -2.25))
    b.int(3, 8); [b.int(v, 12, 4) for v in (1, 2, 3)]          # a sequence
    b.int(1, 8).str("chosen")                                  # a variant
    b.raw(b"abc\0\0").int(9, 16).int(-1 & 0xFFFF, 16)          # characters, a structure
    b.align(8); b.raw(struct.pack("<H", 513))                  # the other byte order
b = Bits(True)
b.int(0xC1FC1FC1, 32).int(3, 8)
event(b, 100, 1, lambda b: b.int(1, 32)); event(b, 150, 0, fields); event(b, 200, 2, lambda b: b.int(1, 32)); event(b, 210, 2, lambda b: b.int(2, 32))
write("fields/stream", b.bytes())

# --- two: version 2.
write("two/metadata", b"".join(b"\x1e" + l.encode() + b"\n" for l in TWO.split("\n") if l.strip()))
def leb(v):
    out = b""
    while True:
        c = v & 0x7F; v >>= 7
        if v in (0, -1) and (v == -1) == bool(c & 0x40) or v == 0 and c < 0x40: return out + bytes([c])
        out += bytes([c | 0x80])
def uleb(v):
    out = b""
    while v > 0x7F: out += bytes([v & 0x7F | 0x80]); v >>= 7
    return out + bytes([v])
body = struct.pack("<BQ", 0, 1000) + b"hi\0" + uleb(300) + leb(-200) + bytes([2]) + b"ok" + bytes([1]) + struct.pack("<H", 77) + bytes([0]) + struct.pack("<i", -5) + bytes([9, 8])
body += struct.pack("<BQ", 1, 2000) + b"\x00"
body += struct.pack("<BQ", 2, 3000) + b"\x01" + struct.pack("<H", 5)
head = struct.pack("<IQ", 0xC1FC1FC1, 0)
ctx = 8 * 4 + 4
total = len(head) + ctx + len(body)
write("two/stream", head + struct.pack("<QQQQI", total * 8 + 64, total * 8, 900, 2, 1) + body + b"\0" * 8)
