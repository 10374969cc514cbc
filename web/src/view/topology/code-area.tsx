// A text field for layouts: numbers of lines before it, values of one location behind it, the error under its word,
// and a list of what could be written at the caret.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { offerAt, type Offer, type Vocabulary, type Word } from "./complete";

/** An error at a place of the text, with a suggestion. */
export interface Fault {
  line: number;
  column: number;
  text: string;
  meant: string;
}

interface Props {
  text: string;
  fault: Fault | null;
  /** Values by line, from 1. */
  values: ReadonlyMap<number, string>;
  known: Vocabulary;
  onInput: (text: string) => void;
}

const lineHeight = 17;
const padding = { x: 6, y: 4 };

export function CodeArea({ text, fault, values, known, onInput }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [scroll, setScroll] = useState({ x: 0, y: 0 });
  const [offer, setOffer] = useState<Offer | null>(null);
  const [at, setAt] = useState(-1);
  const lines = text.split("\n");
  const offerHere = (asked = false) => {
    const { selectionStart: from, selectionEnd: to, value } = area.current!;
    setAt(-1);
    setOffer(from === to ? offerAt(value, from, known, asked) : null);
  };
  // Written as if typed, so that it can be undone.
  const write = (from: number, to: number, insert: string) => {
    const field = area.current!;
    field.focus();
    field.setSelectionRange(from, to);
    if (!document.execCommand("insertText", false, insert)) {
      field.setRangeText(insert, from, to, "end");
      onInput(field.value);
    }
  };
  const take = (w: Word) => {
    if (!offer) return;
    write(offer.from, offer.to, w.insert);
    setOffer(null);
  };
  const key = (e: KeyboardEvent) => {
    if ((e.ctrlKey || e.metaKey) && e.key === " ") offerHere(true);
    else if (!offer) return;
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") setAt((Math.max(at, 0) + (e.key === "ArrowDown" ? 1 : -1) + offer.words.length) % offer.words.length);
    else if (e.key === "Tab" && !e.shiftKey || e.key === "Enter" && at >= 0) take(offer.words[Math.max(at, 0)]!);
    else if (e.key === "Escape") setOffer(null);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="topology-text">
      <pre class="topology-gutter" aria-hidden="true" style={`transform:translateY(${-scroll.y}px)`}>{lines.map((_, i) => <span key={i} class={fault?.line === i + 1 ? "bad" : ""}>{i + 1}{"\n"}</span>)}</pre>
      <div class="topology-field">
        <pre class="topology-behind" aria-hidden="true" style={`transform:translate(${-scroll.x}px,${-scroll.y}px)`}>{lines.map((line, i) => (fault?.line === i + 1 ? <Marked key={i} line={line} column={fault.column} /> : <span key={i}>{line}{"\n"}</span>))}</pre>
        <textarea
          ref={area} aria-label="Layout" aria-invalid={fault !== null} spellcheck={false} autocomplete="off" wrap="off" value={text} aria-autocomplete="list"
          aria-controls="topology-offer" aria-expanded={offer !== null} aria-activedescendant={offer && at >= 0 ? `topology-offer-${at}` : undefined}
          onInput={(e) => { onInput(e.currentTarget.value); offerHere(); }} onKeyDown={key} onBlur={() => setOffer(null)} onClick={() => setOffer(null)}
          onKeyUp={(e) => { if (offer && /^(ArrowLeft|ArrowRight|Home|End|Page)/.test(e.key)) offerHere(); }}
          onScroll={(e) => setScroll({ x: e.currentTarget.scrollLeft, y: e.currentTarget.scrollTop })}
        />
        {fault && !offer && (
          <p class="topology-fault" style={placed(fault.line, fault.column - 1, scroll)}>
            {fault.text}
            {fault.meant && <button type="button" class="chip" title={`Write ${fault.meant} in its place`} onClick={() => replaceWord(text, fault, write)}>{fault.meant}</button>}
          </p>
        )}
        {offer && <Offered offer={offer} at={at} style={placed(...lineAndColumn(text, offer.from), scroll)} take={take} />}
      </div>
      {values.size > 0 && <pre class="topology-values" style={`transform:translateY(${-scroll.y}px)`}>{lines.map((_, i) => <span key={i} title={values.get(i + 1)}>{values.get(i + 1) ?? ""}{"\n"}</span>)}</pre>}
    </div>
  );
}

function Offered({ offer, at, style, take }: { offer: Offer; at: number; style: string; take: (w: Word) => void }) {
  const list = useRef<HTMLDivElement>(null);
  // A field near the edge has its list moved to where there is room for it.
  useLayoutEffect(() => {
    const el = list.current!;
    const [box, field] = [el.getBoundingClientRect(), el.parentElement!.getBoundingClientRect()];
    if (box.right > field.right) el.style.left = `${Math.max(0, el.offsetLeft - (box.right - field.right))}px`;
    if (box.bottom > field.bottom && el.offsetTop - lineHeight > field.height / 2) el.style.top = `${Math.max(0, el.offsetTop - lineHeight - box.height)}px`;
  }, [offer]);
  useLayoutEffect(() => list.current!.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }), [at]);
  return (
    <div class="topology-offer" id="topology-offer" role="listbox" aria-label="What can be written here" ref={list} style={style}>
      {offer.words.map((w, i) => (
        <button type="button" key={w.name} id={`topology-offer-${i}`} role="option" aria-selected={i === Math.max(at, 0)} tabIndex={-1} onPointerDown={(e) => { e.preventDefault(); take(w); }}>
          <b>{w.name}</b> <span>{w.note}</span>
        </button>
      ))}
    </div>
  );
}

/** Below a place of the text. */
function placed(line: number, column: number, scroll: { x: number; y: number }): string {
  return `left:max(0px, calc(${padding.x - scroll.x}px + ${column}ch));top:${padding.y + line * lineHeight - scroll.y}px`;
}

/** The line, from 1, and the column, from 0. */
function lineAndColumn(text: string, place: number): [number, number] {
  const before = text.slice(0, place).split("\n");
  return [before.length, before.at(-1)!.length];
}

/** The word at a column, from 0. */
function wordAt(line: string, column: number): string {
  return /^([\w.]+|.)?/.exec(line.slice(column))?.[0] ?? "";
}

function replaceWord(text: string, fault: Fault, write: (from: number, to: number, insert: string) => void): void {
  const lines = text.split("\n");
  const from = lines.slice(0, fault.line - 1).reduce((n, l) => n + l.length + 1, 0) + fault.column - 1;
  write(from, from + wordAt(lines[fault.line - 1] ?? "", fault.column - 1).length, fault.meant);
}

function Marked({ line, column }: { line: string; column: number }) {
  const at = Math.min(Math.max(column - 1, 0), line.length);
  const word = wordAt(line, at);
  return <span class="bad-line">{line.slice(0, at)}<mark>{word || " "}</mark>{line.slice(at + word.length)}{"\n"}</span>;
}
