// The files of a drop, folders with all that lies in them.

import type { UploadFile } from "../api/client";

const mostFiles = 20000;

export async function filesOf(data: DataTransfer | null): Promise<UploadFile[]> {
  if (!data) return [];
  const entries = [...data.items].map((i) => i.webkitGetAsEntry?.() ?? null);
  if (entries.some((e) => e !== null)) {
    const out: UploadFile[] = [];
    for (const e of entries) if (e) await walk(e, "", out);
    return out;
  }
  return [...data.files].map((file) => ({ file, path: file.name }));
}

async function walk(entry: FileSystemEntry, path: string, out: UploadFile[]): Promise<void> {
  if (out.length >= mostFiles) return;
  const name = path === "" ? entry.name : `${path}/${entry.name}`;
  if (entry.isFile) {
    const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
    out.push({ file, path: name });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader gives a hundred entries at a time, and none when it is through.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return;
    for (const e of some) await walk(e, name, out);
  }
}
