// A story is a walk through states of the page, with a title and a sentence at each stop. It is kept
// with the run, and goes out as a report, as figures, or as a link.

import { batch } from "@preact/signals";
import type { Story, StoryStop } from "../api/types";
import { copyAddress } from "./command";
import { evidenceWords, found, gainWords, walkTo, whoOf, type Finding, type Stop } from "./findings";
import * as layout from "./layout";
import { workspaceQuery } from "./notes";
import { requestOf } from "./request";
import { escapeHTML, saveFile, snapshotStyle } from "./snapshot";
import { goToQuery, pageState } from "./start";
import { encodePage } from "./url";
import type { Workbench } from "./workbench";
import { zipped } from "./zip";

/** The place in a story that an address has: "2:NAME" is its second stop. */
export function readPlace(text: string): { name: string; at: number } | null {
  const m = /^(\d{1,2}):(.+)$/s.exec(text);
  return m && Number(m[1]) > 0 ? { name: m[2]!, at: Number(m[1]) - 1 } : null;
}

/** The story that is shown, and its stop; null for none, or one that is not kept here. */
export function told(bench: Workbench): { story: Story; at: number; stop: StoryStop } | null {
  const place = readPlace(bench.story.value);
  const story = place && bench.notebook.kept.value.stories.find((s) => s.name === place.name);
  const stop = story?.stops[Math.min(place!.at, story.stops.length - 1)];
  return story && stop ? { story, at: story.stops.indexOf(stop), stop } : null;
}

/** Goes to a stop of a story. */
export function tell(bench: Workbench, story: Story, at: number): void {
  batch(() => bench.store.asOneStep(() => {
    goToQuery(bench, story.stops[at]!.query);
    bench.setStory(`${at + 1}:${story.name}`);
  }));
}

/** What is on the screen, as a stop. */
export function stopHere(bench: Workbench, title: string): StoryStop {
  const walk = bench.walk.peek();
  const f = found.peek().list[Number(walk.split(".")[0]) - 1];
  return { title, text: f?.text ?? "", query: workspaceQuery(encodePage({ ...pageState(bench), story: "" })) };
}

const titles: readonly (readonly [Stop, string])[] = [["who", "Who?"], ["why", "Why?"], ["if", "What if?"]];

/** The walk through a finding as a story; the page is left as it was. */
export function storyOf(bench: Workbench, f: Finding, index: number): Story {
  const stops: StoryStop[] = [];
  for (const [stop, title] of titles) {
    if ((stop === "if" && !f.gain) || (stop === "who" && whoOf(f).length === 0)) continue;
    const before = bench.store.steps;
    walkTo(bench, f, index, stop);
    const text = stop === "who" ? f.text : stop === "why" ? evidenceWords(f.evidence).split("\n").join("; ") || f.text : gainWords(f.gain!);
    stops.push({ ...stopHere(bench, title), text });
    bench.store.takeBack(before);
  }
  const taken = new Set(bench.notebook.kept.peek().stories.map((s) => s.name));
  let name = f.title;
  for (let n = 2; taken.has(name); n++) name = `${f.title} ${n}`;
  return { name, stops };
}

/** Keeps the walk through a finding, and opens it to be edited. */
export async function keepWalk(bench: Workbench, f: Finding, index: number): Promise<void> {
  const story = storyOf(bench, f, index);
  if (!(await bench.notebook.addStory(story))) return;
  bench.setStory(`1:${story.name}`);
  bench.say(`Kept as the story “${story.name}”, with ${story.stops.length} stops.`);
}

/** A picture of a panel at a stop. */
interface Picture { title: string; svg: string; file: string }

/** Waits until what is on the page has its size. */
const drawn = () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

/** Goes through the stops, and gives the pictures of each; the page is left as it was. */
async function picturesOf(bench: Workbench, story: Story, print: boolean): Promise<Picture[][]> {
  const out: Picture[][] = [];
  let letter = 0;
  for (const [i, stop] of story.stops.entries()) {
    const before = bench.store.steps;
    batch(() => bench.store.asOneStep(() => goToQuery(bench, stop.query)));
    await drawn();
    const shown = layout.shownAlone(bench.layout.peek());
    const list: Picture[] = [];
    for (const p of shown ? [shown] : layout.panels(bench.layout.peek())) {
      const box = document.getElementById(p.id)?.querySelector(".panel-body");
      const request = requestOf(bench, p, null, Math.round(box?.clientWidth || 960), Math.round(box?.clientHeight || 540));
      const figure = print ? { size: "174mm", letter: String.fromCharCode(97 + (letter++ % 26)) } : undefined;
      try {
        const svg = await bench.api.exported(bench.api.exportURL(bench.runOf(p), request, "svg", "light", bench.hues.peek(), figure));
        list.push({ title: bench.view(p.view)?.title ?? p.view, svg, file: `${i + 1}-${fileName(stop.title)}-${p.view}-${list.length + 1}.svg` });
      } catch (e) {
        bench.reportGone(e); // a panel that has nothing to show
      }
    }
    bench.store.takeBack(before);
    out.push(list);
  }
  return out;
}

const fileName = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "stop";

/** The report: one page that needs no server. Names come from traces: everything but the pictures is escaped. */
export function storyHTML(story: Story, source: string, pictures: readonly (readonly { title: string; svg: string }[])[]): string {
  const stops = story.stops.map((s, i) => `<section><h2>${i + 1}. ${escapeHTML(s.title)}</h2><p>${escapeHTML(s.text)}</p>
${(pictures[i] ?? []).map((p) => `<figure><img alt="${escapeHTML(p.title)}" src="data:image/svg+xml;charset=utf-8,${encodeURIComponent(p.svg)}"><figcaption>${escapeHTML(p.title)}</figcaption></figure>`).join("\n")}</section>`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHTML(story.name)} · Parallax</title>
<style>${snapshotStyle}figure{margin:12px 0}figcaption{color:#57606a}</style></head><body><h1>${escapeHTML(story.name)}</h1><p class="note">${escapeHTML(source)}</p>${stops.join("\n")}</body></html>
`;
}

export async function saveReport(bench: Workbench, story: Story): Promise<void> {
  bench.say("Drawing the stops…");
  const pictures = await picturesOf(bench, story, false);
  saveFile(new Blob([storyHTML(story, bench.run.peek()?.source ?? "", pictures)], { type: "text/html" }), `${fileName(story.name)}.html`);
  bench.say(`Saved: ${story.stops.length} stops as one page.`);
}

export async function saveFigures(bench: Workbench, story: Story): Promise<void> {
  bench.say("Drawing the figures…");
  const pictures = (await picturesOf(bench, story, true)).flat();
  const captions = story.stops.map((s, i) => `${i + 1}. ${s.title} ${s.text}`).join("\n");
  const files = [...pictures.map((p) => ({ name: p.file, text: p.svg })), { name: "captions.txt", text: `${captions}\n` }];
  saveFile(new Blob([zipped(files)], { type: "application/zip" }), `${fileName(story.name)}.zip`);
  bench.say(`Saved: ${pictures.length} figures of 174 mm, with their captions.`);
}

/** Copies an address that opens the story at its first stop. */
export async function copyStory(bench: Workbench, story: Story): Promise<void> {
  const query = new URLSearchParams(story.stops[0]?.query ?? "");
  query.set("run", bench.runID.peek());
  query.set("story", `1:${story.name}`);
  await copyAddress(bench, `${location.origin}${location.pathname}?${query}`, "Address copied: it opens the story at its first stop.");
}
