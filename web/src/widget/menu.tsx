// A list of things to do or to choose from, with arrows, letters and Enter.

import type { ComponentChildren } from "preact";
import { Popover } from "./popover";

export interface MenuItem {
  label: ComponentChildren;
  /** For search by letter; the label where that is text. */
  text?: string;
  /** Shown at the right: a key, a number. */
  hint?: string;
  /** A second line. */
  note?: string;
  checked?: boolean;
  /** Why it cannot be chosen; undefined: it can. */
  off?: string;
  /** Starts a new part of the list. */
  above?: string;
  href?: string;
  download?: string;
  run?: () => void;
}

export interface MenuProps {
  label: ComponentChildren;
  title: string;
  /** The label is text that names the button. */
  named?: boolean;
  class?: string;
  align?: "left" | "right";
  items: () => MenuItem[];
}

export function Menu({ label, title, named, class: cls, align, items }: MenuProps) {
  return (
    <Popover label={label} title={title} named={named} class={cls} align={align} popup="menu">
      {(close) => <MenuList title={title} items={items()} close={close} />}
    </Popover>
  );
}

export function MenuList({ title, items, close }: { title: string; items: MenuItem[]; close: () => void }) {
  return (
    <div class="menu" role="menu" aria-label={title} onKeyDown={(e) => move(e)}>
      {items.map((item, i) => (
        <MenuRow key={i} item={item} close={close} />
      ))}
    </div>
  );
}

function MenuRow({ item, close }: { item: MenuItem; close: () => void }) {
  const choose = (e: Event) => {
    if (item.off !== undefined) return e.preventDefault();
    close();
    item.run?.();
  };
  const attributes = {
    class: "menu-row", tabIndex: -1, "aria-disabled": item.off !== undefined, title: item.off,
    role: item.checked === undefined ? ("menuitem" as const) : ("menuitemradio" as const), "aria-checked": item.checked,
    onClick: choose,
  };
  const content = (
    <>
      <span class="menu-check" aria-hidden="true">{item.checked ? "●" : ""}</span>
      <span class="menu-label">
        <span class="name">{item.label}</span>
        {(item.off ?? item.note) && <span class="menu-note">{item.off ?? item.note}</span>}
      </span>
      {item.hint && <kbd>{item.hint}</kbd>}
    </>
  );
  return (
    <>
      {item.above !== undefined && <div class="menu-above" role="presentation">{item.above}</div>}
      {item.href ? <a {...attributes} href={item.href} download={item.download}>{content}</a> : <button type="button" {...attributes}>{content}</button>}
    </>
  );
}

/** Moves the focus along the rows of a menu. */
function move(e: KeyboardEvent): void {
  const rows = [...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".menu-row")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const to = e.key === "ArrowDown" ? at + 1 : e.key === "ArrowUp" ? at - 1 : e.key === "Home" ? 0 : e.key === "End" ? rows.length - 1 : NaN;
  if (!Number.isNaN(to)) {
    rows[(to + rows.length) % rows.length]?.focus();
  } else if (e.key.length === 1 && /\S/.test(e.key) && !e.ctrlKey && !e.metaKey) {
    const starts = (r: HTMLElement) => (r.querySelector(".name")?.textContent ?? "").toLowerCase().startsWith(e.key.toLowerCase());
    [...rows.slice(at + 1), ...rows.slice(0, at + 1)].find(starts)?.focus();
  } else return;
  e.preventDefault();
  e.stopPropagation();
}
