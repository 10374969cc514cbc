// A ZIP archive of texts, stored as they are.

let table: Uint32Array | null = null;

function crc32(bytes: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
    return n;
  });
  let c = 0xffffffff;
  for (const b of bytes) c = table[(c ^ b) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}

/** 1980-01-01: archives of the same files are the same. */
const date = 0x21;
/** Names are in UTF-8. */
const utf8 = 1 << 11;

/** The archive: for each file a head and its bytes, then the list of all, then where that is. */
export function zipped(files: readonly { name: string; text: string }[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  const list: Uint8Array[] = [];
  let at = 0;
  for (const f of files) {
    const [name, body] = [encoder.encode(f.name), encoder.encode(f.text)];
    const common = [[2, 20], [2, utf8], [2, 0], [2, 0], [2, date], [4, crc32(body)], [4, body.length], [4, body.length], [2, name.length], [2, 0]] as const;
    const head = numbers([[4, 0x04034b50], ...common]);
    list.push(numbers([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]]), name);
    parts.push(head, name, body);
    at += head.length + name.length + body.length;
  }
  const size = list.reduce((n, p) => n + p.length, 0);
  const end = numbers([[4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, at], [2, 0]]);
  return joined([...parts, ...list, end], at + size + end.length);
}

/** Numbers of two or four bytes, the lowest first. */
function numbers(list: readonly (readonly [bytes: number, value: number])[]): Uint8Array {
  return Uint8Array.from(list.flatMap(([n, v]) => Array.from({ length: n }, (_, i) => (v >>> (8 * i)) & 255)));
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(length);
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}
