import { plural } from "./format";

/** In which cluster a run lies, in words; nothing for one on this machine. */
export function placeOf(source: string): string {
  const hosts = /^clickhouse:\/\/(?:[^@/]*@)?([^/]+)/.exec(source)?.[1].split(",") ?? [];
  if (hosts.length === 0) return "";
  return hosts.length === 1 ? `on ${hosts[0]}` : `on ${plural(hosts.length, "server")}`;
}
