// Keys are matched on event.code, the place on the keyboard, so that WASD lie
// under the same fingers in every layout. A chord is written "Ctrl+Shift+KeyP";
// Ctrl also stands for the command key of a Mac.

export interface KeyPress {
  code: string;
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** The chord of a key press. */
export function chordOf(e: KeyPress): string {
  const parts: string[] = [];
  if (e.ctrlKey || e.metaKey) parts.push("Ctrl");
  if (e.altKey) parts.push("Alt");
  if (e.shiftKey) parts.push("Shift");
  return [...parts, e.code].join("+");
}

/**
 * Chords that a key press may mean, the most exact first. "?" and "/" lie on
 * different keys in different layouts, so they are also known by what they write.
 */
export function chordsOf(e: KeyPress): string[] {
  const chords = [chordOf(e)];
  if (!e.ctrlKey && !e.metaKey && !e.altKey && ["?", "/", "[", "]"].includes(e.key)) chords.unshift(`"${e.key}"`);
  return chords;
}

const words: Record<string, string> = {
  Slash: "/", BracketLeft: "[", BracketRight: "]", Escape: "Esc", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓",
  Equal: "+", Minus: "−", Space: "Space",
};

/** A chord for people: "Ctrl+Shift+P". */
export function chordText(chord: string): string {
  if (chord.startsWith('"')) return chord.slice(1, -1);
  return chord.split("+").map((p) => words[p] ?? p.replace(/^(Key|Digit)/, "")).join("+");
}

/** Whether a key press is meant for a text field and not for the page. */
export function typing(target: EventTarget | null): boolean {
  const e = target as HTMLElement | null;
  if (!e || typeof e.tagName !== "string") return false;
  if (e.tagName === "TEXTAREA" || e.tagName === "SELECT" || e.isContentEditable) return true;
  if (e.tagName !== "INPUT") return false;
  return !["checkbox", "radio", "button", "range"].includes((e as HTMLInputElement).type);
}
