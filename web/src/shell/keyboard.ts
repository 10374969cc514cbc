// Runs commands by their keys. Text fields and open windows keep their keys.

import { commands, pickView } from "./command";
import { chordsOf, typing } from "./keys";
import type { Workbench } from "./workbench";

const byChord = new Map(commands.flatMap((c) => c.keys.map((k) => [k, c] as const)));

export function listen(bench: Workbench): () => void {
  const down = (e: KeyboardEvent) => {
    if (e.defaultPrevented || bench.overlay.value !== "" || document.querySelector("dialog[open]")) return;
    const inText = typing(e.target);
    for (const chord of chordsOf(e)) {
      const digit = /^Digit([1-9])$/.exec(chord);
      const command = byChord.get(chord);
      if (!command && !digit) continue;
      // In a text field the page takes only chords that text fields do not use.
      if (inText && !(command?.id === "commands")) return;
      if (command && bench.runID.value === "" && !command.always) return;
      if (digit && bench.runID.value === "") return;
      if (e.repeat && !command?.repeats) return;
      e.preventDefault();
      if (command) command.run(bench);
      else pickView(bench, Number(digit![1]) - 1);
      return;
    }
  };
  // Letting a key go ends the gesture: the next press is a new step of undo.
  const up = () => bench.store.endGesture();
  window.addEventListener("keydown", down);
  window.addEventListener("keyup", up);
  return () => {
    window.removeEventListener("keydown", down);
    window.removeEventListener("keyup", up);
  };
}
