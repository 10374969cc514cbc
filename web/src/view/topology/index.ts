// topology: locations in space. A drag turns the picture, the wheel comes closer;
// both set the option camera, so that the address and the files show the same side.

import type { PanelState } from "../../shell/layout";
import type { OptionChange, ViewPlug } from "../../shell/plug";

const usual = [30, 20, 1];
/** Degrees a pixel. */
const turnRate = 0.4;

export const topology: ViewPlug = {
  name: "topology",
  follow: { locations: "context" },
  turn: (panel, dx, dy) => {
    const [azimuth, elevation, zoom] = cameraOf(panel);
    return camera(azimuth + dx * turnRate, Math.max(-90, Math.min(90, elevation - dy * turnRate)), zoom);
  },
  magnify: (panel, factor) => {
    const [azimuth, elevation, zoom] = cameraOf(panel);
    return camera(azimuth, elevation, Math.max(0.2, Math.min(20, zoom * factor)));
  },
};

/** Azimuth, elevation and zoom; what is not given is as usual. */
export function cameraOf(panel: PanelState): number[] {
  const given = (panel.options.camera?.[0] ?? "").split(",");
  return usual.map((u, i) => (given[i] !== undefined && given[i].trim() !== "" && Number.isFinite(Number(given[i])) ? Number(given[i]) : u));
}

function camera(azimuth: number, elevation: number, zoom: number): OptionChange[] {
  const round = (x: number, to: number) => Math.round(x * to) / to;
  const text = [round(((azimuth % 360) + 360) % 360, 10), round(elevation, 10), round(zoom, 1000)].join(",");
  return [{ option: "camera", values: text === usual.join(",") ? [] : [text] }];
}
