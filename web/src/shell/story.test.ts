import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { readPlace, storyHTML } from "./story";
import { zipped } from "./zip";

test("an address names a story and its stop", () => {
  expect(readPlace("2:the slow node: why?")).toEqual({ name: "the slow node: why?", at: 1 });
  expect([readPlace(""), readPlace("0:x"), readPlace("x"), readPlace("3:")]).toEqual([null, null, null, null]);
});

test("a report escapes the words of people and of traces", () => {
  const html = storyHTML({ name: "<b>", stops: [{ title: "Who & why?", text: "<script>alert(1)</script>", query: "" }] }, "a<b.json", [[{ title: "Time\"line", svg: "<svg/>" }]]);
  expect(html).not.toContain("<script");
  expect(html).toContain("1. Who &#38; why?");
  expect(html).toContain("data:image/svg+xml;charset=utf-8,%3Csvg%2F%3E");
});

/** Reads an archive from its end, as readers of archives do. */
function unzipped(b: Buffer): { name: string; text: string }[] {
  const end = b.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  let at = b.readUInt32LE(end + 16);
  return Array.from({ length: b.readUInt16LE(end + 10) }, () => {
    expect(b.readUInt32LE(at)).toBe(0x02014b50);
    const [sum, size, name, head] = [b.readUInt32LE(at + 16), b.readUInt32LE(at + 20), b.readUInt16LE(at + 28), b.readUInt32LE(at + 42)];
    const body = b.subarray(head + 30 + name, head + 30 + name + size);
    expect([b.readUInt32LE(head), b.readUInt16LE(head + 26), crc32(body)]).toEqual([0x04034b50, name, sum]);
    const out = { name: b.toString("utf8", at + 46, at + 46 + name), text: body.toString("utf8") };
    at += 46 + name;
    return out;
  });
}

test("an archive of figures holds them as they were", () => {
  const files = [{ name: "1-who-timeline.svg", text: "<svg>ä</svg>" }, { name: "captions.txt", text: "x".repeat(70_000) }];
  expect(unzipped(Buffer.from(zipped(files)))).toEqual(files);
});
