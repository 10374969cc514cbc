import { expect, test } from "vitest";
import { ApiFailure, type Api } from "../api/client";
import type { ApiError, Notes, Story } from "../api/types";
import { NoteBook } from "./notes";

/** A server that answers when it is told to. */
function server(first: Notes) {
  let kept = first;
  const answers: (() => void)[] = [];
  const api = {
    notes: async () => kept,
    keepNotes: (_: string, notes: Notes) => new Promise<Notes>((done, refuse) => answers.push(() => {
      if (notes.version !== kept.version) return refuse(new ApiFailure({ error: "changed" } as ApiError, 409));
      kept = { ...notes, version: kept.version + 1 };
      done(kept);
    })),
  } as unknown as Api;
  const answer = async () => {
    await new Promise((done) => setTimeout(done));
    answers.shift()!();
    await new Promise((done) => setTimeout(done));
  };
  return { api, answer, get kept() { return kept; }, set kept(k: Notes) { kept = k; } };
}

const story: Story = { name: "s", stops: [{ title: "a", text: "", query: "" }, { title: "b", text: "", query: "" }] };
const notes: Notes = { version: 1, notes: [], workspaces: [], stories: [story] };
const titles = (n: Notes) => n.stories.map((s) => s.stops.map((x) => x.title).join());

test("changes that are made before the server has answered are all kept, and shown at once", async () => {
  const s = server(notes);
  const book = new NoteBook(s.api, (e) => { throw e; });
  await book.open("run");
  const first = book.changeStory("s", (x) => ({ ...x, stops: x.stops.map((stop) => ({ ...stop, title: stop.title + "!" })) }));
  const second = book.changeStory("s", (x) => ({ ...x, stops: [...x.stops].reverse() }));
  expect(titles(book.kept.value)).toEqual(["b!,a!"]);
  await s.answer();
  expect(titles(s.kept)).toEqual(["a!,b!"]);
  expect(titles(book.kept.value)).toEqual(["b!,a!"]);
  await s.answer();
  expect(titles(s.kept)).toEqual(["b!,a!"]);
  expect(await Promise.all([first, second])).toEqual([true, true]);
});

test("a change is made once more on top of those of another page", async () => {
  const s = server(notes);
  const book = new NoteBook(s.api, (e) => { throw e; });
  await book.open("run");
  s.kept = { ...notes, version: 5, stories: [...notes.stories, { name: "theirs", stops: [] }] };
  const done = book.changeStory("s", (x) => ({ ...x, stops: x.stops.slice(1) }));
  await s.answer();
  await s.answer();
  expect(await done).toBe(true);
  expect(titles(s.kept)).toEqual(["b", ""]);
  expect(book.kept.value).toEqual(s.kept);
});

test("a change that is refused is told and taken back", async () => {
  const told: unknown[] = [];
  const s = server(notes);
  const api = { ...s.api, keepNotes: async () => { throw new ApiFailure({ error: "full" } as ApiError, 507); } } as unknown as Api;
  const book = new NoteBook(api, (e) => told.push(e));
  await book.open("run");
  expect(await book.removeStory("s")).toBe(false);
  expect(titles(book.kept.value)).toEqual(["a,b"]);
  expect(told.length).toBe(1);
});
