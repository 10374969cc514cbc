// Notes and workspaces, kept with the run by the server. What another page changed in
// the meantime is read again, and the change made once more on top of it.

import { signal } from "@preact/signals";
import { ApiFailure, type Api } from "../api/client";
import type { Notes, RunNote, SavedPage, Story } from "../api/types";

const none: Notes = { version: 0, notes: [], workspaces: [], stories: [] };

export class NoteBook {
  /** What the server has, with the changes that are on their way to it. */
  readonly kept = signal<Notes>(none);
  private held = none;
  private waiting: ((k: Notes) => Notes)[] = [];
  private last: Promise<unknown> = Promise.resolve();
  private run = "";

  constructor(private readonly api: Api, private readonly report: (e: unknown) => void) {}

  async open(run: string): Promise<void> {
    this.run = run;
    this.held = none;
    this.waiting = [];
    this.show();
    if (run === "") return;
    try {
      const held = await this.api.notes(run);
      if (this.run !== run) return;
      this.held = held;
      this.show();
    } catch (e) {
      this.report(e);
    }
  }

  addNote(note: RunNote): Promise<boolean> {
    return this.change((k) => ({ ...k, notes: [...k.notes.filter((n) => n.name !== note.name), note].sort((a, b) => a.begin - b.begin) }));
  }

  removeNote(name: string): Promise<boolean> {
    return this.change((k) => ({ ...k, notes: k.notes.filter((n) => n.name !== name) }));
  }

  addWorkspace(w: SavedPage): Promise<boolean> {
    return this.change((k) => ({ ...k, workspaces: [...k.workspaces.filter((x) => x.name !== w.name), w] }));
  }

  removeWorkspace(name: string): Promise<boolean> {
    return this.change((k) => ({ ...k, workspaces: k.workspaces.filter((w) => w.name !== name) }));
  }

  addStory(story: Story): Promise<boolean> {
    return this.change((k) => ({ ...k, stories: [...k.stories.filter((s) => s.name !== story.name), story] }));
  }

  /** Changes a story as it is when its turn comes, with all changes that were made before. */
  changeStory(name: string, f: (s: Story) => Story): Promise<boolean> {
    return this.change((k) => ({ ...k, stories: k.stories.map((s) => (s.name === name ? f(s) : s)) }));
  }

  removeStory(name: string): Promise<boolean> {
    return this.change((k) => ({ ...k, stories: k.stories.filter((s) => s.name !== name) }));
  }

  /** Shows a change at once and sends it after those before it. One that the server refuses is taken back. */
  private change(f: (k: Notes) => Notes): Promise<boolean> {
    const { run } = this;
    this.waiting.push(f);
    this.show();
    const done = this.last.then(async () => {
      const sent = await this.send(run, f);
      if (this.run === run) {
        this.waiting = this.waiting.filter((w) => w !== f);
        this.show();
      }
      return sent;
    });
    this.last = done;
    return done;
  }

  private async send(run: string, f: (k: Notes) => Notes): Promise<boolean> {
    try {
      for (let attempt = 0; attempt < 3; attempt++) {
        if (this.run !== run) return false;
        const answer = await this.keep(run, f(this.held));
        if (this.run === run) this.held = answer.notes;
        if (answer.kept) return true;
      }
      throw new Error("Other pages keep changing these notes. Try again.");
    } catch (e) {
      this.report(e);
      return false;
    }
  }

  /** Keeps the notes, or reads those that another page kept in the meantime. */
  private async keep(run: string, notes: Notes): Promise<{ kept: boolean; notes: Notes }> {
    try {
      return { kept: true, notes: await this.api.keepNotes(run, notes) };
    } catch (e) {
      if (!(e instanceof ApiFailure) || e.status !== 409) throw e;
      return { kept: false, notes: await this.api.notes(run) };
    }
  }

  private show(): void {
    this.kept.value = this.waiting.reduce((k, f) => f(k), this.held);
  }
}

/** A state of the page without what is the reader's own: theme, hues and the run. */
export function workspaceQuery(search: string): string {
  const q = new URLSearchParams(search);
  for (const key of ["theme", "region-colours", "hues", "run", "token"]) q.delete(key);
  return q.toString();
}
