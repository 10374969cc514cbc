// Small line drawings, one stroke width, in the colour of the text.

const paths = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.4 10.4 14 14",
  download: "M8 2v8M4.8 7.2 8 10.4l3.2-3.2M2.5 13.5h11",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6 13 13M13 3l-1.4 1.4M4.4 11.6 3 13",
  moon: "M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8Z",
  system: "M1.5 3h13v8.5h-13zM5 14h6M8 11.5V14",
  help: "M5.6 6a2.4 2.4 0 1 1 3.6 2.1c-.8.5-1.2.9-1.2 1.9M8 12.6v.4",
  close: "M4 4l8 8M12 4l-8 8",
  maximise: "M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5 9 7M2.5 13.5 7 9",
  restore: "M13 7H9V3M3 9h4v4M9 7l4.5-4.5M7 9l-4.5 4.5",
  table: "M2 3h12v10H2zM2 6.3h12M2 9.6h12M6 3v10",
  picture: "M2 13V3M2 13h12M5 10V7M8 10V4.5M11 10V8",
  options: "M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M9 4.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M4 11.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0",
  right: "M6 3.5 10.5 8 6 12.5",
  down: "M3.5 6 8 10.5 12.5 6",
  plus: "M8 3v10M3 8h10",
  splitRight: "M2 3h12v10H2zM8 3v10",
  splitBelow: "M2 3h12v10H2zM2 8h12",
  undo: "M5.5 3 2.5 6l3 3M2.5 6H10a3.5 3.5 0 0 1 0 7H6",
  redo: "M10.5 3l3 3-3 3M13.5 6H6a3.5 3.5 0 0 0 0 7h4",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  home: "M2.5 7.5 8 3l5.5 4.5V13h-11z",
  pin: "M8 2.5a4 4 0 0 1 4 4c0 2.8-4 7-4 7s-4-4.2-4-7a4 4 0 0 1 4-4M8 5.2a1.3 1.3 0 1 0 0 2.6 1.3 1.3 0 0 0 0-2.6",
  only: "M2 3h12L9.5 8.5V13l-3 1V8.5z",
  link: "M6.5 9.5l3-3M7 4.5 8.6 2.9a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5l-1.6 1.6a3 3 0 0 1-4.5-4.5L4.5 7",
  left: "M2 3h12v10H2zM6 3v10",
  sideRight: "M2 3h12v10H2zM10 3v10",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
