// A line of text that is sent when it is complete: on Enter, or when the field is
// left. What is being typed is the field's own until then: a page that is drawn
// again meanwhile does not take it away. Escape takes it back.

import { useState } from "preact/hooks";

interface Props {
  value: string;
  /** Takes the text; false leaves it in the field, for correction. */
  set: (text: string) => boolean | void;
  id?: string;
  class?: string;
  label?: string;
  describedBy?: string;
  title?: string;
  placeholder?: string;
  /** The id of a datalist. */
  list?: string;
}

export function TextField({ value, set, id, class: cls, label, describedBy, title, placeholder, list }: Props) {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <input
      id={id} class={cls} type="text" value={draft ?? value} list={list} aria-label={label} aria-describedby={describedBy} title={title} placeholder={placeholder} spellcheck={false} autocomplete="off"
      onInput={(e) => setDraft(e.currentTarget.value)}
      onChange={(e) => { if (set(e.currentTarget.value) !== false) setDraft(null); }}
      onBlur={() => { if (draft === value) setDraft(null); }}
      onKeyDown={(e) => {
        if (e.key !== "Escape" || draft === null) return;
        setDraft(null);
        e.stopPropagation();
      }}
    />
  );
}
