// Notes and workspaces, kept with the run by the server. What another page changed in
// the meantime is read again, and the change made once more on top of it.

import { signal } from "@preact/signals";
import { ApiFailure, type Api } from "../api/client";
import type { Notes, RunNote, SavedPage } from "../api/types";

const none: Notes = { version: 0, notes: [], workspaces: [] };

export class NoteBook {
  readonly kept = signal<Notes>(none);
  private run = "";

  constructor(private readonly api: Api, private readonly report: (e: unknown) => void) {}

  async open(run: string): Promise<void> {
    this.run = run;
    this.kept.value = none;
    if (run === "") return;
    try {
      const kept = await this.api.notes(run);
      if (this.run === run) this.kept.value = kept;
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

  private async change(f: (k: Notes) => Notes): Promise<boolean> {
    const { run } = this;
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        const kept = await this.api.keepNotes(run, f(this.kept.peek()));
        if (this.run === run) this.kept.value = kept;
        return true;
      } catch (e) {
        if (!(e instanceof ApiFailure) || e.status !== 409) {
          this.report(e);
          return false;
        }
        this.kept.value = await this.api.notes(run);
      }
    }
    return false;
  }
}

/** A state of the page without what is the reader's own: theme, hues and the run. */
export function workspaceQuery(search: string): string {
  const q = new URLSearchParams(search);
  for (const key of ["theme", "region-colours", "hues", "run", "token"]) q.delete(key);
  return q.toString();
}
