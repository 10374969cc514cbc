// A window over the page, closed by Escape, its cross, or a click beside it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon";

export interface DialogProps {
  title: string;
  class?: string;
  /** Without a head: the content has its own. */
  bare?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, class: cls = "", bare, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    ref.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog
      ref={ref} class={`dialog ${cls}`} aria-label={title}
      onClose={onClose} onCancel={(e) => { e.preventDefault(); onClose(); }}
      onPointerDown={(e) => { if (e.target === ref.current) onClose(); }}
      onKeyDown={(e) => e.stopPropagation()}
    >
      <div class="dialog-body">
        {!bare && (
          <header class="dialog-head">
            <h2>{title}</h2>
            <button type="button" class="plain" title="Close" aria-label="Close" onClick={onClose}><Icon name="close" /></button>
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
}
