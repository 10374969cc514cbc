// The page without a run: drop files, open a path, what was open before, demos.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { UploadFile } from "../api/client";
import type { ApiError, Home as HomeData, RunState } from "../api/types";
import { useBench } from "./context";
import { formatBytes, formatShare, middle } from "./format";
import { follow } from "./start";
import { filesOf } from "./drop";
import type { Workbench } from "./workbench";

interface Upload {
  name: string;
  sent: number;
  total: number;
}

export function Home() {
  const bench = useBench();
  const home = useSignal<HomeData | null>(null);
  const failure = useSignal<ApiError | null>(null);
  const upload = useSignal<Upload | null>(null);
  const over = useSignal(false);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => {
    bench.api.home().then((h) => (home.value = h)).catch((e: unknown) => bench.report(e));
  }, [bench.comebacks.value]);

  const say = (e: unknown) => {
    const detail = (e as { detail?: ApiError }).detail;
    if (detail?.kind === "aborted") return;
    if (detail) failure.value = detail;
    bench.reportGone(e);
  };
  const open = async (sources: string[]) => {
    failure.value = null;
    try {
      await take(bench, await bench.api.open(sources));
    } catch (e) {
      say(e);
    }
  };
  const send = async (files: UploadFile[]) => {
    if (files.length === 0) return;
    failure.value = null;
    abort.current = new AbortController();
    const name = files.length === 1 ? files[0].file.name : `${files.length} files`;
    upload.value = { name, sent: 0, total: files.reduce((n, f) => n + f.file.size, 0) };
    try {
      const runs = await bench.api.upload(files, (sent, total) => (upload.value = { name, sent, total }), abort.current.signal);
      upload.value = null;
      await take(bench, runs);
    } catch (e) {
      upload.value = null;
      say(e);
    }
  };
  return (
    <main
      class={`home ${over.value ? "home-over" : ""}`} aria-label="Open a run"
      onDragOver={(e) => { e.preventDefault(); over.value = true; }} onDragLeave={(e) => { if (e.target === e.currentTarget) over.value = false; }}
      onDrop={(e) => { e.preventDefault(); over.value = false; void filesOf(e.dataTransfer).then(send); }}
    >
      <div class="home-page">
        <h1>See a parallel program from every side</h1>
        <p class="muted">Traces and profiles of MPI, OpenMP, GPU training, Go and services. Everything stays on this machine.</p>
        <Runs />
        {failure.value && <div class="home-failure" role="alert"><p class="empty-what">{failure.value.error}</p>{failure.value.hint && <p>{failure.value.hint}</p>}</div>}
        {upload.value ? <Sending upload={upload.value} cancel={() => abort.current?.abort()} /> : <Drop send={send} />}
        {bench.session.value?.canOpen && <OpenPath open={open} />}
        <div class="home-columns">
          <section aria-label="Recent">
            <h2>Recent</h2>
            {home.value && home.value.recent.length === 0 && <p class="empty-note">What you open appears here; opening it again takes no time.</p>}
            <ul class="home-list">
              {home.value?.recent.slice(0, 12).map((r) => (
                <li key={r.source}>
                  <button type="button" class="plain" onClick={() => void open([r.source])}>
                    <bdi class="name">{middle(r.name, 60)}</bdi><span class="muted">{r.format}</span>
                    <bdi class="muted name home-note">{middle(r.source, 90)}{r.opened ? ` · ${r.opened.slice(0, 10)}` : ""}</bdi>
                  </button>
                </li>
              ))}
            </ul>
          </section>
          <section aria-label="Demos">
            <h2>Demos and their known problems</h2>
            <ul class="home-list home-demos">
              {home.value?.demos.map((d) => (
                <li key={d.name}>
                  <button type="button" class="plain" onClick={() => void open([`demo:${d.name}`])}>
                    <span class="name">{d.title || d.name}</span><span class="muted">demo:{d.name}</span>
                    <span class="muted home-note">{d.truth}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        </div>
        <Formats home={home.value} />
      </div>
    </main>
  );
}

async function take(bench: Workbench, runs: RunState[]): Promise<void> {
  bench.runs.value = await bench.api.runs();
  if (runs.length > 0) await follow(bench, runs[0], null);
}

/** Runs that are open, being imported, or failed. */
function Runs() {
  const bench = useBench();
  if (bench.runs.value.length === 0) return null;
  return (
    <section aria-label="Open runs">
      <h2>Open here</h2>
      <ul class="home-list">
        {bench.runs.value.map((r) => (
          <li key={r.id} class={`run-${r.state}`}>
            <button type="button" class="plain" disabled={r.state === "failed"} onClick={() => void follow(bench, r, null).catch((e: unknown) => bench.report(e))}>
              <bdi class="name">{middle(r.name, 60)}</bdi><span class="muted">{r.state === "ready" ? r.format : r.state === "importing" ? `importing · ${(r.progress * 100).toFixed(0)} %` : "failed"}</span>
              {r.state === "failed" && r.error && <span class="home-note error">{r.error.error}{r.error.hint ? ` — ${r.error.hint}` : ""}</span>}
              {r.state === "importing" && <progress class="home-note" max={1} value={r.progress} aria-label={`Import of ${r.name}`} />}
            </button>
            <button type="button" class="plain" title="Close this run" aria-label={`Close ${r.name}`} onClick={() => void close(bench, r.id)}>close</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function close(bench: Workbench, id: string): Promise<void> {
  try {
    await bench.api.close(id);
    bench.runs.value = await bench.api.runs();
  } catch (e) {
    bench.report(e);
  }
}

function Drop({ send }: { send: (files: UploadFile[]) => void }) {
  const pick = useRef<HTMLInputElement>(null);
  const chosen = (e: Event) => {
    const input = e.currentTarget as HTMLInputElement;
    send([...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    input.value = "";
  };
  return (
    <div class="drop">
      <p class="drop-what">Drop trace files or a folder here</p>
      <button type="button" onClick={() => pick.current?.click()}>Choose files…</button>
      <input ref={pick} type="file" multiple hidden onChange={chosen} aria-label="Files to open" />
    </div>
  );
}

function Sending({ upload, cancel }: { upload: Upload; cancel: () => void }) {
  const share = upload.total > 0 ? upload.sent / upload.total : 0;
  return (
    <div class="drop" aria-live="polite">
      <p class="drop-what"><bdi>{middle(upload.name, 60)}</bdi>: {formatBytes(upload.sent)} of {formatBytes(upload.total)}, {formatShare(share)}</p>
      <progress max={1} value={share} aria-label="Upload" />
      <button type="button" onClick={cancel}>Stop</button>
    </div>
  );
}

function OpenPath({ open }: { open: (sources: string[]) => void }) {
  return (
    <form class="open-path" onSubmit={(e) => {
      e.preventDefault();
      const path = (e.currentTarget.elements.namedItem("path") as HTMLInputElement).value.trim();
      if (path !== "") open([path]);
    }}>
      <label for="open-path">or a path on the server</label>
      <input id="open-path" name="path" type="text" placeholder="/scratch/run42/traces.otf2" spellcheck={false} autocomplete="off" onKeyDown={(e) => e.stopPropagation()} />
      <button type="submit">Open</button>
    </form>
  );
}

function Formats({ home }: { home: HomeData | null }) {
  if (!home || home.formats.length === 0) return null;
  return (
    <section aria-label="Formats" class="home-formats">
      <h2>What it reads</h2>
      <p>{home.formats.filter((f) => f.reads).map((f) => f.title || f.name).join(" · ")}</p>
      {home.formats.some((f) => !f.reads) && <p class="muted">Recognised, with advice how to convert: {home.formats.filter((f) => !f.reads).map((f) => f.title || f.name).join(" · ")}</p>}
    </section>
  );
}
