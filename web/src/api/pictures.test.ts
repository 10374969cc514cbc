import { expect, test, vi } from "vitest";
import { Pictures } from "./pictures";

/** A promise and what ends it. */
function pending<T>() {
  let end!: (value: T) => void, fail!: (e: unknown) => void;
  const promise = new Promise<T>((done, failed) => { end = done; fail = failed; });
  return { promise, end, fail };
}

test("what waits for pictures goes on once all are there, also those that fail", async () => {
  vi.useFakeTimers();
  try {
    const pictures = new Pictures();
    const a = pending<number>(), b = pending<number>();
    let there = false;
    void pictures.there(5000).then(() => { there = true; });
    const first = pictures.count(a.promise);
    const second = pictures.count(b.promise).catch((e: unknown) => e);
    await vi.advanceTimersByTimeAsync(1000);
    expect(there).toBe(false);
    a.end(1);
    await vi.advanceTimersByTimeAsync(1);
    expect([await first, there]).toEqual([1, false]);
    b.fail("gone");
    await vi.advanceTimersByTimeAsync(1);
    expect([await second, there]).toEqual(["gone", true]);
  } finally {
    vi.useRealTimers();
  }
});

test("it does not wait where no picture is asked for, nor longer than it is told", async () => {
  vi.useFakeTimers();
  try {
    const pictures = new Pictures();
    let there = 0;
    void pictures.there(5000).then(() => { there++; });
    await vi.advanceTimersByTimeAsync(100);
    expect(there).toBe(0); // panels may be late the first time
    await vi.advanceTimersByTimeAsync(1000);
    expect(there).toBe(1);
    void pictures.count(new Promise(() => undefined));
    void pictures.there(5000).then(() => { there++; });
    await vi.advanceTimersByTimeAsync(4000);
    expect(there).toBe(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(there).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});
