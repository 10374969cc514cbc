import { describe, expect, test } from "vitest";
import type { Api } from "../api/client";
import type { LocationPage, LocationRow } from "../api/types";
import { LocationBook, locationTitle } from "./names";

/** A tree given by the number of children at each level, numbered in preorder. */
function tree(fan: number[]) {
  const rows: LocationRow[] = [];
  const children = new Map<number | null, number[]>();
  const add = (parent: number | null, level: number): number => {
    const id = rows.length;
    const row: LocationRow = { id, name: `n${id}`, kind: "x", parent, last: id, level, rank: null, holds: true, children: fan[level + 1] ?? 0, rows: 1 };
    rows.push(row);
    children.set(id, []);
    for (let i = 0; i < (fan[level + 1] ?? 0); i++) children.get(id)!.push(add(id, level + 1));
    row.last = rows.length - 1;
    return id;
  };
  children.set(null, []);
  for (let i = 0; i < fan[0]; i++) children.get(null)!.push(add(null, 0));
  let asked = 0;
  const api = {
    locations: async (_run: string, parent: number | null, offset: number, limit: number): Promise<LocationPage> => {
      asked++;
      const all = children.get(parent) ?? [];
      return { parent, offset, total: all.length, locations: all.slice(offset, offset + limit).map((i) => rows[i]) };
    },
  } as unknown as Api;
  return { api, rows, asked: () => asked };
}

describe("a location is found by its id", () => {
  test.each([[[3, 4, 5]], [[1, 1000]], [[2000]], [[1, 300, 3]], [[500, 2]]])("in a tree of %j", async (fan) => {
    const { api, rows } = tree(fan);
    const book = new LocationBook(api, "r");
    for (let id = 0; id < rows.length; id += Math.ceil(rows.length / 37)) {
      const place = await book.locate(id);
      expect(place!.row.id).toBe(id);
      const path = [...place!.above, place!.row];
      for (let i = 1; i < path.length; i++) expect(path[i].parent).toBe(path[i - 1].id);
    }
    expect(await book.locate(rows.length)).toBeNull();
  });
  test("with few questions among many leaves", async () => {
    const { api, asked } = tree([1, 20000]);
    await new LocationBook(api, "r").locate(13579);
    expect(asked()).toBe(2);
  });
  test("once", async () => {
    const { api, asked } = tree([3]);
    const book = new LocationBook(api, "r");
    await Promise.all([book.locate(1), book.locate(1)]);
    expect(asked()).toBe(1);
  });
});

test("a process is named with its rank where its name does not say it", () => {
  const of = (name: string, rank: number | null, kind = "process") => locationTitle({ name, rank, kind } as LocationRow);
  expect(of("rank 5", 5)).toBe("rank 5");
  expect(of("rank 15", 5)).toBe("rank 15 · rank 5");
  expect(of("python", 5)).toBe("python · rank 5");
  expect(of("node-3", null)).toBe("node-3");
  expect(of("main", 5, "thread")).toBe("main");
});
