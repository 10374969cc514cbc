import { expect, test } from "vitest";
import { chordOf, chordsOf, chordText, typing, type KeyPress } from "./keys";

const press = (code: string, key = "", mods: Partial<KeyPress> = {}): KeyPress =>
  ({ code, key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...mods });

test("keys are matched by their place, whatever they write", () => {
  expect(chordOf(press("KeyW", "ц"))).toBe("KeyW");
  expect(chordOf(press("KeyP", "P", { ctrlKey: true, shiftKey: true }))).toBe("Ctrl+Shift+KeyP");
  expect(chordOf(press("KeyZ", "z", { metaKey: true }))).toBe("Ctrl+KeyZ");
});

test("? / [ ] are also known by what they write, for layouts that have them elsewhere", () => {
  expect(chordsOf(press("Minus", "?", { shiftKey: true }))).toEqual(['"?"', "Shift+Minus"]);
  expect(chordsOf(press("Digit8", "[", { altKey: true }))).toEqual(["Alt+Digit8"]);
  expect(chordsOf(press("KeyA", "a"))).toEqual(["KeyA"]);
});

test("chords read as on the keys", () => {
  expect(["Ctrl+Shift+KeyP", '"?"', "Escape", "BracketLeft", "Digit1", "Shift+ArrowLeft"].map(chordText)).toEqual(["Ctrl+Shift+P", "?", "Esc", "[", "1", "Shift+←"]);
});

test("keys in a text field belong to the field", () => {
  const of = (tagName: string, type = "") => ({ tagName, type, isContentEditable: false }) as unknown as EventTarget;
  expect([of("INPUT", "search"), of("INPUT", "text"), of("TEXTAREA"), of("SELECT")].map(typing)).toEqual([true, true, true, true]);
  expect([of("INPUT", "range"), of("INPUT", "checkbox"), of("BUTTON"), of("DIV"), null].map((x) => typing(x as EventTarget))).toEqual([false, false, false, false, false]);
});
