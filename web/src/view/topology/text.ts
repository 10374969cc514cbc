// The text of layouts: blocks from BEGIN_VIZ=name to END_VIZ. The page sends the
// chosen block alone, so that the address stays short.

export interface Block {
  name: string;
  /** Lines of the whole text, from 0; end is not included. */
  from: number;
  to: number;
  text: string;
}

/** Longest text that fits an address. */
export const mostText = 8000;

/** The blocks of a file; what stands between them belongs to none. */
export function blocksOf(text: string): Block[] {
  const lines = text.split("\n");
  const out: Block[] = [];
  let from = -1;
  let name = "";
  const close = (to: number) => {
    if (from >= 0) out.push({ name, from, to, text: lines.slice(from, to).join("\n") });
    from = -1;
  };
  lines.forEach((line, i) => {
    const begin = /^\s*BEGIN_VIZ\s*=(.*)$/.exec(line);
    if (begin) {
      close(i);
      [from, name] = [i, begin[1]!.trim()];
    } else if (line.trim() === "END_VIZ") close(i + 1);
  });
  close(lines.length);
  return out;
}

/** The controls that a file gives a layout: BEGIN_UI=name … END_UI, of its name or of all. */
export function controlsOf(text: string, name: string): string {
  const all = text.matchAll(/^#?[ \t]*BEGIN_UI[ \t]*=[ \t]*(.*?)[ \t]*$[\s\S]*?^#?[ \t]*END_UI[ \t]*$/gm);
  return [...all].filter((m) => m[1] === name || m[1] === "*").map((m) => `\n${m[0]}`).join("");
}

/** The option for a block, or for text without one, which then has an error about the missing part. */
export function optionOf(block: Block | undefined, text: string): string {
  return block ? `strict:${block.name}\n${block.text}${controlsOf(text, block.name)}` : `strict:\n${text}`;
}

/** The name of a layout that is given as text. */
export function nameOf(option: string): string {
  const [head, ...body] = option.split("\n");
  const name = head!.slice(head!.indexOf(":") + 1).trim();
  return name || blocksOf(body.join("\n"))[0]?.name || "layout";
}

/** The text of an option, "" where it names a layout. */
export function textOf(option: string): string {
  return /^(strict|text):/.test(option) ? option.slice(option.indexOf("\n") + 1) : "";
}
