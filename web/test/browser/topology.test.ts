// topology in the page: turned, filtered and edited without asking for places again.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, putOff, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];
let requests: string[];

beforeAll(async () => { program = await serve("demo:sweep3d"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors, requests } = await newPage());
  await openBench(page, program.address, "v=topology&max=0&0.event0=MPI_Barrier:exclusive");
});
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

interface Host extends HTMLElement {
  picture: { scene: unknown; painter: { pickSpace(x: number, y: number): number | null; read(): ImageData } };
}

/** Requests for scenes since the last call. */
let seen = 0;
const asked = () => {
  const all = requests.filter((r) => /views\/topology\/scene/.test(r));
  const since = all.slice(seen);
  seen = all.length;
  return since;
};
beforeEach(() => { seen = 0; });

/** A number for the pixels drawn. */
const pixels = () => page.evaluate(() => {
  const { data } = (document.querySelector(".picture") as Host).picture.painter.read();
  let h = 0;
  for (let i = 0; i < data.length; i += 4) h = (h * 31 + data[i]! + data[i + 1]! * 7) | 0;
  return h;
});

const middle = async () => {
  const box = (await page.locator(".picture").boundingBox())!;
  return { x: box.x + box.width / 2, y: box.y + box.height / 2, box };
};

const editor = () => page.getByRole("textbox", { name: "Layout" });

test("list of layouts and map can be reached in panels of any width", async () => {
  for (const width of [1280, 900, 640]) {
    await page.setViewportSize({ width, height: 800 });
    await openBench(page, program.address, "v=topology,topology,topology&0.layout=fill:16x16x64");
    await settled(page);
    const heads = await page.locator(".panel:has(.topology-part) > .panel-head").all();
    expect(heads).toHaveLength(width > 700 ? 3 : 1); // on a phone the others are behind tabs
    for (const head of heads) {
      const panel = (await head.boundingBox())!;
      for (const control of await head.locator(".topology-part, .topology-choice, .topology-sides input, .panel-controls .chip").all()) {
        const box = (await control.boundingBox())!;
        const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
        expect(box.x >= panel.x && box.x + box.width <= panel.x + panel.width + 0.5, `${width}: ${await control.textContent()} lies inside its panel`).toBe(true);
        expect(await control.evaluate((e, p) => e.contains(document.elementFromPoint(p.x, p.y)), at), `${width}: ${await control.textContent()} can be clicked`).toBe(true);
      }
      await head.getByRole("combobox", { name: "Layout" }).selectOption("rows");
    }
  }
});

test("turning, moving and coming closer ask nothing, and are in the address", async () => {
  asked();
  const before = await pixels();
  const { x, y } = await middle();
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 20, { steps: 4 });
  await page.mouse.up();
  const turned = await pixels();
  expect(turned).not.toBe(before);
  await page.mouse.wheel(0, -300);
  await expect.poll(pixels).not.toBe(turned);
  await settled(page);
  expect(asked()).toEqual([]);
  await expect.poll(() => Number(new URL(page.url()).searchParams.get("0.camera")?.split(",")[2])).toBeGreaterThan(1.2);
  const camera = new URL(page.url()).searchParams.get("0.camera")!.split(",").map(Number);
  expect(camera[0]).toBeCloseTo(54, 0);
  expect(camera[1]).toBeCloseTo(28, 0);
  expect(camera[2]).toBeGreaterThan(1.2);
});

test("a click chooses the rank that is drawn there, from any side", async () => {
  const panel = page.locator(".panel");
  for (const turn of [0, 7]) {
    await panel.focus();
    for (let i = 0; i < turn; i++) await page.keyboard.press("ArrowLeft");
    await settled(page);
    const { box } = await middle();
    const at = await page.evaluate(() => {
      const host = document.querySelector(".picture") as Host;
      for (let y = 60; y < host.clientHeight; y += 23) {
        for (let x = 60; x < host.clientWidth; x += 17) {
          const item = host.picture.painter.pickSpace(x, y);
          if (item !== null && item > 5000) return { x, y, item };
        }
      }
      return null;
    });
    await page.mouse.click(box.x + at!.x, box.y + at!.y);
    // Ids of this demo are the ranks, and so are the items.
    await page.waitForFunction((name) => document.querySelector(".inspector, aside")?.parentElement?.textContent?.includes(name), `rank ${at!.item}`);
    await expect.poll(() => new URL(page.url()).searchParams.getAll("locations")).toEqual([`#${at!.item}`]);
    await page.keyboard.press("Escape");
  }
});

test("range and slice are applied here, with the mean of what is selected", async () => {
  await page.getByRole("button", { name: "filter", exact: true }).click();
  await settled(page);
  asked();
  const before = await pixels();
  await page.getByRole("slider", { name: "min" }).fill("70");
  await page.getByRole("slider", { name: "max" }).fill("30");
  const side = page.locator(".topology-side");
  await side.getByText(/only values outside/).waitFor();
  expect(await pixels()).not.toBe(before);
  await page.getByRole("checkbox", { name: "Slice along x" }).check();
  await page.getByRole("slider", { name: "x", exact: true }).fill("0");
  await side.getByText(/mean of 512 locations/).waitFor();
  const plane = await side.locator(".topology-mean b").innerText();
  for (const axis of ["y", "z"]) {
    await page.getByRole("checkbox", { name: `Slice along ${axis}` }).check();
    await page.getByRole("slider", { name: axis, exact: true }).fill("0");
  }
  await side.getByText(/mean of 1 location:/).waitFor();
  expect(await side.locator(".topology-mean b").innerText()).not.toBe(plane);
  expect(asked()).toEqual([]);
  // The same numbers without the page.
  const twin = await page.evaluate(async () => {
    const run = new URL(location.href).searchParams.get("run") ?? "sweep3d";
    const r = await fetch(`/api/runs/${run}/views/topology/data?event0=MPI_Barrier:exclusive&slice=x%3D0`);
    return ((await r.json()) as { data: { mean: number } }).data.mean;
  });
  expect(plane).toBe(`${(twin / 1e6).toPrecision(3)} ms`);
});

test("other values of the same places come without the places", async () => {
  const sizes: number[] = [];
  page.on("response", (r) => { if (/topology\/scene/.test(r.url())) sizes.push(Number(r.headers()["content-length"])); });
  await page.goto(page.url().replace("MPI_Barrier%3Aexclusive", "sweep%3Aexclusive").replace("MPI_Barrier:exclusive", "sweep:exclusive"));
  await settled(page);
  const first = Math.max(...sizes);
  expect(first).toBeGreaterThan(16384 * 16);
  sizes.length = 0;
  await page.getByRole("button", { name: "events", exact: true }).click();
  const name = page.getByRole("combobox", { name: "event0: name" });
  await name.fill("MPI_Recv");
  await name.press("Enter");
  await page.waitForFunction(() => document.querySelector(".legend")?.textContent?.includes("MPI_Recv"));
  await settled(page);
  expect(Math.max(...sizes)).toBeLessThan(16384 * 4 + 8192);
});

test("a name being typed outlives what arrives meanwhile, and Escape takes it back", async () => {
  let arrive = () => {};
  const held = new Promise<void>((done) => { arrive = done; });
  await page.route(/\/bindings/, async (route) => { await held; await route.continue(); });
  const name = page.getByRole("combobox", { name: "event0: name" });
  await page.getByRole("button", { name: "events", exact: true }).click();
  await name.fill("MPI_Recv");
  const arrived = page.waitForResponse(/\/bindings/);
  arrive();
  await (await arrived).finished();
  await putOff(page, 100);
  expect(await name.inputValue()).toBe("MPI_Recv");
  await name.press("Escape");
  expect(await name.inputValue()).toBe("MPI_Barrier");
  await name.fill("MPI_Recv");
  await name.press("Enter");
  await page.waitForFunction(() => document.querySelector(".legend")?.textContent?.includes("MPI_Recv"));
  expect(await name.inputValue()).toBe("MPI_Recv");
});

test("hundreds of scattered locations are chosen at once, kept by the address, and found again", async () => {
  await openBench(page, program.address, "v=histogram~topology");
  const box = (await page.locator(".picture").first().boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 4);
  await page.getByText(/[1-9]\d\d of 16.4 k ranks/).first().waitFor();
  await settled(page);
  const { locations } = await state(page);
  expect(locations.length).toBeGreaterThan(300);
  await page.locator(".fact-lines").getByText(`${locations.length}, `).first().waitFor(); // as the bar says
  const address = new URL(page.url());
  expect(address.searchParams.getAll("locations").length).toBe(1);
  expect(address.search.length).toBeLessThan(locations.length * 6);
  await page.reload();
  await settled(page);
  await page.getByText(`${locations.length} of 16.4 k ranks`).first().waitFor();
  expect((await state(page)).locations).toEqual(locations);
});

test("what is written is drawn; a fault is marked, and the last good picture stays", async () => {
  await page.getByRole("button", { name: "formulas", exact: true }).click();
  await settled(page);
  const block = (z: string) => `BEGIN_VIZ=helix\nturn=2*pi()*rank/128\nx=cos(turn)\ny=sin(turn)\nz=${z}\nEND_VIZ\n`;
  await editor().fill(block("rank/1000"));
  await page.waitForFunction(() => document.querySelector(".legend") && (document.querySelector(".picture") as Host).picture.scene && /helix/.test(document.querySelector(".panel .canvas")!.getAttribute("aria-label")!));
  await settled(page);
  const good = await pixels();
  await editor().fill(block("rank/thousand"));
  const alert = page.locator(".topology-error");
  await alert.getByText(/line 5, column 8/).waitFor();
  expect(await alert.locator("pre").innerText()).toBe("z=rank/thousand\n       ^");
  expect(await page.locator(".topology-behind mark").innerText()).toBe("thousand");
  expect(await pixels()).toBe(good);
  await editor().fill(block("rank/500"));
  await alert.waitFor({ state: "detached" });
  await settled(page);
  expect(await pixels()).not.toBe(good);
  // The address holds the layout: it is written when all is settled.
  await page.reload();
  await settled(page);
  expect(await page.locator(".panel .canvas").first().getAttribute("aria-label")).toContain("helix");
});

const write = async (text: string) => {
  await editor().fill(text);
  await editor().press("Control+End");
};

test("words are offered as one types, and taken with Tab; Enter stays a new line", async () => {
  await page.getByRole("button", { name: "formulas", exact: true }).click();
  await write("BEGIN_VIZ=a\nside=ceil(sqrt(count))\nx=");
  const offer = page.getByRole("listbox", { name: "What can be written here" });
  await page.keyboard.type("mo");
  expect(await offer.getByRole("option").allInnerTexts()).toEqual([expect.stringMatching(/^mod\(a, b\)/)]);
  await page.keyboard.press("Tab");
  await page.keyboard.type("slot,si");
  expect(await offer.getByRole("option").allInnerTexts()).toEqual([expect.stringMatching(/^side set above/), expect.stringMatching(/^sin\(a\)/), expect.stringMatching(/^sinh/), expect.stringMatching(/^sign/)]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.keyboard.type(")");
  await page.keyboard.press("Enter");
  await page.keyboard.type("y=floor(slot/sid");
  await offer.getByRole("option").first().click();
  await page.keyboard.type(")\nz=0\nEND_VIZ\nBEGIN_UI=a\nevent0=Barr");
  expect(await offer.getByRole("option").allInnerTexts()).toEqual(["MPI_Barrier region"]);
  await page.keyboard.press("Escape");
  expect(await offer.count()).toBe(0);
  await page.keyboard.press("Control+ ");
  await page.keyboard.press("Tab");
  await page.keyboard.type("\nEND_UI");
  expect(await editor().inputValue()).toBe("BEGIN_VIZ=a\nside=ceil(sqrt(count))\nx=mod(slot,side)\ny=floor(slot/side)\nz=0\nEND_VIZ\nBEGIN_UI=a\nevent0=MPI_Barrier:exclusive\nEND_UI");
  await page.waitForFunction(() => /layout a,/.test(document.querySelector(".panel .canvas")!.getAttribute("aria-label")!));
});

test("each line has its value for the location that is chosen", async () => {
  await openBench(page, program.address, "v=topology&0.event0=MPI_Barrier:exclusive&locations=%23300");
  await page.getByRole("button", { name: "formulas", exact: true }).click();
  await write("BEGIN_VIZ=a\nxdim=8,ydim=16\n# nothing\nx=mod(rank,\n  xdim)\ny=floor(rank/xdim)\nz=0\nEND_VIZ\n");
  const values = page.locator(".topology-values");
  await expect.poll(async () => (await values.innerText().catch(() => "")).split("\n").map((l) => l.trim()).filter(Boolean)).toEqual(["xdim 8, ydim 16", "4", "37", "0"]);
  await page.getByText("values of rank 300").waitFor();
  // A value stands on the height of its line.
  const line = (await values.locator("span").nth(3).boundingBox())!;
  const number = (await page.locator(".topology-gutter span").nth(3).boundingBox())!;
  expect(await values.locator("span").nth(3).innerText()).toMatch(/^4\s*$/);
  expect(Math.abs(line.y - number.y)).toBeLessThan(2);
  // Another is chosen in the picture.
  const { box } = await middle();
  await settled(page);
  const at = await page.evaluate(() => {
    const host = document.querySelector(".picture") as Host;
    for (let y = 60; y < host.clientHeight; y += 23) {
      for (let x = 60; x < host.clientWidth; x += 17) {
        const item = host.picture.painter.pickSpace(x, y);
        if (item !== null && item > 5000) return { x, y, item };
      }
    }
    return null;
  });
  await page.mouse.click(box.x + at!.x, box.y + at!.y);
  await page.getByText(`values of rank ${at!.item}`).waitFor();
  await expect.poll(async () => (await values.locator("span").nth(3).innerText()).trim()).toBe(String(at!.item % 8));
});

test("the fault is said under its word, and mended by what was meant", async () => {
  await page.getByRole("button", { name: "formulas", exact: true }).click();
  await write("BEGIN_VIZ=a\nx=rank\ny=rank/maxrnak\nz=0\nEND_VIZ\n");
  const fault = page.locator(".topology-fault");
  await fault.getByText(/no name "maxrnak"/).waitFor();
  const word = (await page.locator(".topology-behind mark").boundingBox())!;
  const said = (await fault.boundingBox())!;
  expect(Math.abs(said.x - word.x)).toBeLessThan(3);
  expect(said.y).toBeGreaterThanOrEqual(word.y + word.height - 3);
  expect(said.y).toBeLessThan(word.y + word.height + 8);
  await fault.getByRole("button", { name: "maxRank" }).click();
  expect(await editor().inputValue()).toContain("y=rank/maxRank\n");
  await fault.waitFor({ state: "detached" });
  await page.locator(".topology-values").waitFor();
  await editor().press("Control+z");
  expect(await editor().inputValue()).toContain("y=rank/maxrnak\n");
});

test("a file is opened, shown block by block, and saved as it was", async () => {
  await page.getByRole("button", { name: "formulas", exact: true }).click();
  await settled(page);
  const file = "BEGIN_VIZ=one\nx=rank\ny=0\nz=0\nEND_VIZ\nBEGIN_VIZ=two\nx=0\ny=rank\nz=0\nEND_VIZ\n";
  await page.evaluate(() => { delete (window as { showOpenFilePicker?: unknown }).showOpenFilePicker; });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Open a layout file" }).or(page.locator("button", { hasText: "open…" })).first().click()]);
  await chooser.setFiles({ name: "mine.txt", mimeType: "text/plain", buffer: Buffer.from(file) });
  await page.getByRole("combobox", { name: "Block" }).selectOption({ label: "two" });
  await page.waitForFunction(() => /layout two/.test(document.querySelector(".panel .canvas")!.getAttribute("aria-label")!));
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("button", { hasText: "save" }).click()]);
  expect(download.suggestedFilename()).toBe("two.txt");
  const chunks: Buffer[] = [];
  for await (const c of (await download.createReadStream())!) chunks.push(c as Buffer);
  expect(Buffer.concat(chunks).toString()).toBe(file);
});

test("a line drawn with Ctrl chooses what lies inside it", async () => {
  const { x, y, box } = await middle();
  const draw = async (r: number) => {
    await page.keyboard.down("Control");
    await page.mouse.move(x - r, y - r);
    await page.mouse.down();
    for (const [dx, dy] of [[r, -r], [r, r], [-r, r]] as const) await page.mouse.move(x + dx, y + dy, { steps: 6 });
    expect(await page.locator(".lasso polygon").count()).toBe(1);
    await page.mouse.up();
    await page.keyboard.up("Control");
  };
  await draw(Math.min(box.width, box.height) * 0.12);
  await expect.poll(async () => (await state(page)).locations?.length ?? 0).toBeGreaterThan(0);
  const few = (await state(page)).locations!.length;
  await draw(Math.min(box.width, box.height) * 0.3);
  await expect.poll(async () => (await state(page)).locations!.length).toBeGreaterThan(few);
  expect(await page.locator(".lasso").count()).toBe(0);
});
