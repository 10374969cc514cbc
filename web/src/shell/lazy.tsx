// Draws a part of the page that is loaded when it is first opened.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

type Parts = typeof import("./later");

type PropsOf<C> = C extends (props: infer P) => unknown ? (unknown extends P ? object : P) : object;

let parts: Promise<Parts> | null = null;
let loaded: Parts | null = null;

/** A component of later.ts; nothing until it is there. */
export function Later<K extends keyof Parts>({ part, ...props }: { part: K } & PropsOf<Parts[K]>) {
  const [, there] = useState(loaded !== null);
  useEffect(() => {
    if (loaded) return;
    parts ??= import("./later");
    parts.then((p) => { loaded = p; there(true); }, () => (parts = null)); // asked for again when it is next opened
  }, []);
  const Part = loaded?.[part] as ComponentType<object> | undefined;
  return Part ? <Part {...props} /> : null;
}
