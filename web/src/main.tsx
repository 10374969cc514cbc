// Wires the page, like cmd/parallax wires the program.

import "./main.css";
import { render } from "preact";
import { createApi } from "./api/client";
import { createPainter } from "./scene/painter";
import { palette } from "./scene/palette";
import { App } from "./shell/app";
import { start } from "./shell/start";
import { followSelection } from "./shell/summary";
import { Workbench } from "./shell/workbench";
import { views } from "./view";

const bench = new Workbench(createApi(), views, palette, (host) => createPainter(host, palette));
(window as Window & { parallax?: Workbench }).parallax = bench; // for tests and the curious
void start(bench); // asks the server; what it says comes after the first drawing
render(<App bench={bench} />, document.getElementById("app")!);
followSelection(bench);
