// Something that opens below a button and goes away again: on Escape, on a click
// elsewhere, when the focus leaves. The focus returns to the button.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface PopoverProps {
  /** What is written on the button. */
  label: ComponentChildren;
  /** The button's name for those who do not see it; also its tooltip. */
  title: string;
  class?: string;
  disabled?: boolean;
  align?: "left" | "right";
  /** The label is text that names the button: the title is more about it. */
  named?: boolean;
  /** What kind of thing opens. */
  popup?: "menu" | "dialog" | "listbox";
  /** Given a function that closes it. */
  children: (close: () => void) => ComponentChildren;
}

export function Popover({ label, title, named, class: cls = "", disabled, align = "left", popup = "dialog", children }: PopoverProps) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const outside = (e: Event) => {
      if (!root.current?.contains(e.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, [open]);
  useLayoutEffect(() => {
    if (!open || !body.current || !button.current) return;
    place(body.current, button.current, align);
    (body.current.querySelector<HTMLElement>("[autofocus], [role^=menuitem], input, select, button") ?? body.current).focus();
  }, [open]);
  return (
    <span
      class="popover" ref={root}
      onFocusOut={(e) => { if (open && e.relatedTarget && !root.current?.contains(e.relatedTarget as Node)) setOpen(false); }}
      onKeyDown={(e) => {
        if (!open || e.key !== "Escape") return;
        e.stopPropagation();
        close();
      }}
    >
      <button
        ref={button} type="button" class={cls} title={title} aria-label={named ? undefined : title} aria-haspopup={popup} aria-expanded={open} disabled={disabled}
        onClick={() => setOpen(!open)}
        onKeyDown={(e) => { if (!open && e.key === "ArrowDown") { e.preventDefault(); e.stopPropagation(); setOpen(true); } }}
      >{label}</button>
      {open && <div class="popover-body" ref={body} tabIndex={-1}>{children(close)}</div>}
    </span>
  );
}

/** Puts a body under its button, inside the window. Fixed, so that no panel cuts it. */
function place(body: HTMLElement, button: HTMLElement, align: "left" | "right"): void {
  const b = button.getBoundingClientRect();
  const w = body.offsetWidth;
  const x = align === "left" ? b.left : b.right - w;
  body.style.left = `${Math.max(4, Math.min(x, innerWidth - w - 4))}px`;
  const below = innerHeight - b.bottom - 8;
  const above = b.top - 8;
  const up = below < Math.min(body.scrollHeight, 240) && above > below;
  if (up) body.style.bottom = `${innerHeight - b.top + 2}px`;
  else body.style.top = `${b.bottom + 2}px`;
  body.style.maxHeight = `${Math.max(120, up ? above : below)}px`;
}
