// Parts of the page that few open: loaded when they are. Their styles are with the page's.

export { AreaPanel } from "./area-panel";
export { Overlays } from "./overlays";
export { QueryPanel } from "./query";
export { keepWalk } from "./story";
export { StoryBar } from "./story-bar";
export { TableTwin } from "./table-twin";
