// Uploads: files are streamed to the server's disk one after the other and opened
// as one run. XMLHttpRequest, because fetch does not tell how much was sent.

import { ApiFailure, aborted, query, type Line } from "./line";
import type { ApiError, RunState } from "./types";

/** One of several files that are opened together; the path is relative, with slashes. */
export interface UploadFile {
  path: string;
  file: File;
}

export async function upload(
  line: Line, base: string, what: File | UploadFile[], progress: (sent: number, total: number) => void, signal?: AbortSignal,
): Promise<RunState[]> {
  if (what instanceof File) {
    const answer = await send(`${base}/api/upload?${query({ name: what.name })}`, what, (sent) => progress(sent, what.size), signal);
    return JSON.parse(answer) as RunState[];
  }
  const batch = crypto.randomUUID?.() ?? Math.random().toString(36).slice(2);
  const total = what.reduce((sum, f) => sum + f.file.size, 0);
  let before = 0;
  for (const f of what) {
    await send(`${base}/api/upload?${query({ name: f.path, batch })}`, f.file, (sent) => progress(before + sent, total), signal);
    before += f.file.size;
  }
  return line.json("/api/runs", signal, { method: "POST", body: JSON.stringify({ batch }) });
}

function send(url: string, file: File, progress: (sent: number) => void, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.upload.onprogress = (e) => progress(e.loaded);
    request.onload = () => {
      if (request.status < 300) resolve(request.responseText);
      else reject(new ApiFailure(errorOf(request), request.status));
    };
    request.onerror = () => reject(new ApiFailure({ error: "the upload broke off", hint: "is parallax still running?", kind: "unreachable" }, 0));
    request.onabort = () => reject(aborted());
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    if (signal?.aborted) return reject(aborted());
    request.send(file);
  });
}

function errorOf(request: XMLHttpRequest): ApiError {
  try {
    return JSON.parse(request.responseText) as ApiError;
  } catch {
    return { error: `the server answers ${request.status}`, hint: "", kind: "internal" };
  }
}
