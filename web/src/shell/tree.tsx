// The tree of locations: lazy, virtual, searchable by the page's search. A click
// selects, Ctrl adds, Shift takes all between; arrows open, close and move.

import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { LocationRow } from "../api/types";
import { Icon } from "../widget/icon";
import { Menu } from "../widget/menu";
import { VirtualList } from "../widget/virtual-list";
import { narrow } from "./command";
import { useBench } from "./context";
import { charsIn, formatCount, middle } from "./format";
import { LocationHits } from "./location-hits";
import { idsBetween, LocationTree, treePage, type TreeRow } from "./location-tree";
import { shortTitle } from "./names";
import { mostNamed } from "./workbench";

const rowHeight = 24;
/** How many nodes "expand" opens at most, so that one key cannot ask for a million rows. */
const mostOpened = 300;

export function Tree() {
  const bench = useBench();
  const model = useRef(new LocationTree());
  const version = useSignal(0);
  const cursor = useSignal(0);
  const show = useSignal(-1);
  const asked = useRef(new Set<string>());
  const lastClick = useRef(-1);
  const query = useSignal("");
  const changed = () => (version.value = version.peek() + 1);
  void version.value;

  const fetchPage = async (parent: number | null, page: number): Promise<void> => {
    const key = `${parent}/${page}`;
    if (asked.current.has(key)) return;
    asked.current.add(key);
    const [book, tree] = [bench.book, model.current];
    try {
      const got = await book.page(parent, page * treePage, treePage);
      if (tree !== model.current) return;
      tree.learn(parent, got.offset, got.total, got.locations);
      changed();
    } catch (e) {
      asked.current.delete(key);
      bench.reportGone(e);
    }
  };

  const openNode = (r: TreeRow) => {
    if (!r.row || r.row.children === 0) return;
    model.current.open(r.row, r.parent, r.offset);
    asked.current.delete(`${r.row.id}/0`);
    changed();
  };

  // A new run: a new tree, opened down to the first level that branches.
  useEffect(() => effect(() => {
    if (bench.runID.value === "") return;
    void bench.comebacks.value;
    model.current = new LocationTree();
    asked.current = new Set();
    lastClick.current = -1;
    void openFirst();
  }), []);

  const openFirst = async () => {
    const tree = model.current;
    await fetchPage(null, 0);
    for (let depth = 0; depth < 6 && tree === model.current; depth++) {
      const rows = Array.from({ length: Math.min(tree.length, 40) }, (_, i) => tree.at(i)!).filter((r) => r.level === depth);
      if (rows.length === 0 || rows.length > 24) return;
      const few = rows.length === 1 || rows.reduce((n, r) => n + (r.row?.children ?? 0), tree.length) <= 24;
      if (!few) return;
      for (const r of rows) openNode(r);
      await Promise.all(rows.filter((r) => r.row?.children).map((r) => fetchPage(r.row!.id, 0)));
    }
  };

  // What is chosen elsewhere comes into sight.
  useEffect(() => effect(() => {
    const { path } = bench.chosen.value;
    if (path.length === 0 || bench.chosen.value.has(lastClick.current)) return;
    void reveal(path);
  }), []);

  const reveal = async (path: readonly LocationRow[]) => {
    const tree = model.current;
    for (let i = 0; i < path.length; i++) {
      const parent = i === 0 ? null : path[i - 1].id;
      const offset = await placeAmongSiblings(parent, path[i]);
      if (offset < 0 || tree !== model.current) return;
      if (i < path.length - 1) tree.open(path[i], parent, offset);
      else {
        show.value = tree.indexOf(parent, offset);
        cursor.value = Math.max(0, show.value);
      }
    }
    changed();
  };

  /** The place of a child among its siblings: the ids of a page tell which way to go on. */
  const placeAmongSiblings = async (parent: number | null, row: LocationRow): Promise<number> => {
    let [low, high] = [0, Infinity];
    let page = parent === null ? 0 : Math.max(0, Math.floor((row.id - parent - 1) / treePage));
    for (let tries = 0; tries < 40 && low <= high; tries++) {
      const got = await bench.book.page(parent, page * treePage, treePage);
      model.current.learn(parent, got.offset, got.total, got.locations);
      const at = got.locations.findIndex((l) => l.id === row.id);
      if (at >= 0) return got.offset + at;
      high = Math.min(high, Math.ceil(got.total / treePage) - 1);
      if (got.locations.length === 0 || row.id < got.locations[0].id) high = Math.min(high, page - 1);
      else low = page + 1;
      page = Math.floor((low + high) / 2);
    }
    return -1;
  };

  const choose = (i: number, r: TreeRow, e: { ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }) => {
    if (!r.row) return;
    const pattern = `#${r.row.id}`;
    lastClick.current = r.row.id;
    if (e.shiftKey) {
      bench.choose({ locations: idsBetween(model.current, cursor.value, i, mostNamed.locations + 1) });
      return;
    }
    cursor.value = i;
    const { locations } = bench.look.value;
    const alone = locations.length === 1 && locations[0] === pattern && !e.ctrlKey && !e.metaKey;
    bench.choose({ locations: alone ? [] : [pattern] }, e.ctrlKey || e.metaKey);
  };

  const key = (e: KeyboardEvent) => {
    const tree = model.current;
    const r = tree.at(cursor.value);
    const go = (i: number) => {
      cursor.value = Math.max(0, Math.min(tree.length - 1, i));
      show.value = cursor.value;
    };
    switch (e.key) {
      case "ArrowDown": go(cursor.value + 1); break;
      case "ArrowUp": go(cursor.value - 1); break;
      case "PageDown": go(cursor.value + 15); break;
      case "PageUp": go(cursor.value - 15); break;
      case "Home": go(0); break;
      case "End": go(tree.length - 1); break;
      case "ArrowRight": if (r && !r.open) openNode(r); else go(cursor.value + 1); break;
      case "ArrowLeft": if (r?.open && r.row) { tree.close(r.row.id); changed(); } else if (r) go(parentIndex(tree, cursor.value)); break;
      case "Enter": case " ": if (r) choose(cursor.value, r, e); break;
      default: return;
    }
    e.preventDefault();
    e.stopPropagation();
  };

  const expandAll = async () => {
    const tree = model.current;
    for (let i = 0, opened = 0; i < tree.length && opened < mostOpened; i++) {
      const r = tree.at(i);
      if (!r?.row) { if (r) await fetchPage(r.parent, Math.floor(r.offset / treePage)); }
      const again = tree.at(i);
      if (again?.row?.children && !again.open) {
        openNode(again);
        await fetchPage(again.row.id, 0);
        opened++;
        if (opened === mostOpened) bench.say(`Opened the first ${mostOpened} groups; open others one by one.`);
      }
    }
  };

  const info = bench.info.value;
  return (
    <section class="side-part side-tree" aria-label="Locations" style={{ flexBasis: query.value !== "" ? "50%" : `${28 + rowHeight * (model.current.length + 1)}px` }}>
      <header class="side-head">
        <h2>Locations</h2>
        <span class="muted">{info ? formatCount(info.locations) : ""}</span>
        <input
          type="search" class="filter" placeholder="find" aria-label="Find locations by name" spellcheck={false} autocomplete="off"
          onInput={(e) => (query.value = e.currentTarget.value.trim())} onKeyDown={(e) => e.key !== "Tab" && e.stopPropagation()}
        />
        <Menu class="plain" title="More for locations" align="right" label={<Icon name="more" />} items={() => [
          { label: "Open all groups", run: () => void expandAll() },
          { label: "Close all groups", run: () => { model.current.closeAll(); changed(); } },
          { label: bench.look.value.only.length > 0 ? "Show all locations again" : "Show only the selected locations", hint: "O", run: () => narrow(bench) },
        ]} />
      </header>
      {query.value !== "" ? <LocationHits query={query.value} /> : <VirtualList
        class="tree" role="tree" label="Locations" count={model.current.length} rowHeight={rowHeight} show={show.value}
        active={{ row: cursor.value, id: `tree-${cursor.value}` }} attributes={{ tabIndex: 0, onKeyDown: key, "aria-multiselectable": true }}
        onRange={(a, b) => {
          for (let i = a; i < b; i++) {
            const r = model.current.at(i);
            const w = r && model.current.wanting(r);
            if (w) void fetchPage(w.parent, w.page);
          }
        }}
        row={(i) => {
          const r = model.current.at(i);
          return r && <TreeLine key={i} index={i} r={r} cursor={i === cursor.value} onToggle={() => { if (r.open && r.row) { model.current.close(r.row.id); changed(); } else openNode(r); }} onChoose={(e) => choose(i, r, e)} />;
        }}
      />}
    </section>
  );
}

function parentIndex(tree: LocationTree, i: number): number {
  const level = tree.at(i)?.level ?? 0;
  for (let k = i - 1; k >= 0 && i - k < 5000; k--) if ((tree.at(k)?.level ?? 0) < level) return k;
  return i;
}

interface LineProps {
  index: number;
  r: TreeRow;
  cursor: boolean;
  onToggle: () => void;
  onChoose: (e: MouseEvent) => void;
}

function TreeLine({ index, r, cursor, onToggle, onChoose }: LineProps) {
  const bench = useBench();
  const { row } = r;
  if (!row) return <div class="tree-row" role="treeitem" aria-level={r.level + 1}>…</div>;
  const chosen = bench.chosen.value.has(row.id);
  const inside = !chosen && bench.chosen.value.holds(row.id);
  const hovered = bench.hover.value?.location === row.id;
  return (
    <div
      id={`tree-${index}`} class={`tree-row ${chosen ? "chosen" : ""} ${inside ? "inside" : ""} ${cursor ? "cursor" : ""} ${hovered ? "hovered" : ""}`} style={{ paddingLeft: `${4 + r.level * 12}px` }}
      role="treeitem" aria-level={r.level + 1} aria-selected={chosen} aria-expanded={row.children > 0 ? r.open : undefined} title={`${middle(row.name, 400)} (${row.kind})`}
      onClick={onChoose} onDblClick={onToggle}
      onPointerEnter={() => (bench.hover.value = { panel: "tree", time: null, location: row.id, region: null })} onPointerLeave={() => (bench.hover.value = null)}
    >
      <button type="button" class="twist plain" tabIndex={-1} aria-hidden="true" onClick={(e) => { e.stopPropagation(); onToggle(); }}>
        {row.children > 0 && <Icon name={r.open ? "down" : "right"} />}
      </button>
      <bdi class="name">{shortTitle(row, charsIn(Math.abs(bench.left.value) - 64 - r.level * 12))}</bdi>
      {row.children > 0 && row.rows > 0 && <span class="muted count">{formatCount(row.rows)}</span>}
    </div>
  );
}
