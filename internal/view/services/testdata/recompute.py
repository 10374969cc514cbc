"""Recompute the graph of services from Jaeger or Zipkin JSON, by the definitions of docs/requests.md.

    python3 recompute.py FILE... > recomputed.json

Nothing of the program is used. Times are in microseconds in the files and in nanoseconds here.
"""
import json
import sys
from collections import defaultdict


def quantile(values, q):
    values = sorted(values)
    h = (len(values) - 1) * q
    i = int(h)
    if i + 1 >= len(values):
        return values[-1]
    return values[i] + (h - i) * (values[i + 1] - values[i])


def spans_of_jaeger(doc):
    for t in doc["data"] if isinstance(doc["data"], list) else [doc["data"]]:
        for s in t["spans"]:
            parent = None
            for r in s.get("references") or []:
                if r["traceID"] == s["traceID"]:
                    parent = r["spanID"]
                    break
            tags = {x["key"]: x["value"] for x in s.get("tags") or []}
            failed = str(tags.get("error", "")).lower() not in ("", "false", "0")
            for log in s.get("logs") or []:
                fields = {x["key"]: x["value"] for x in log["fields"]}
                failed = failed or "error" in fields or "error.object" in fields or fields.get("event") == "error"
            process = s.get("process") or t.get("processes", {}).get(s["processID"], {})
            service = process.get("serviceName") or (None if process else s["processID"])
            yield s["traceID"], s["spanID"], parent, service, s["duration"] * 1000, failed, tags.get("span.kind"), False


def spans_of_zipkin(doc):
    for s in doc if not isinstance(doc[0], list) else [x for t in doc for x in t]:
        tags = s.get("tags") or {}
        failed = "error" in tags and tags["error"].lower() not in ("", "false", "0") or int(tags.get("http.status_code", 0)) >= 500
        yield s["traceId"], s["id"], s.get("parentId"), s.get("localEndpoint", {}).get("serviceName"), s.get("duration", 0) * 1000, failed, (s.get("kind") or "").lower(), s.get("shared", False)


def graph(doc):
    spans = list(spans_of_zipkin(doc) if isinstance(doc, list) else spans_of_jaeger(doc))
    by_id = defaultdict(list)
    for k, s in enumerate(spans):
        by_id[s[0], s[1]].append(k)

    def parent(k):
        trace, own, up, service, _, _, kind, shared = spans[k]
        if shared or kind == "server":  # the other half of the same span
            for o in by_id[trace, own]:
                if o != k and spans[o][6] == "client":
                    return o
        if up is None or up == own or (trace, up) not in by_id:
            return None
        return max(by_id[trace, up], key=lambda o: (2 * (spans[o][3] == service) + (spans[o][6] == "server"), -o))

    edges = defaultdict(lambda: {"calls": 0, "errors": 0, "times": []})
    for k, s in enumerate(spans):
        up = parent(k)
        source = "" if up is None else spans[up][3]
        if up is not None and source == s[3]:
            continue
        for key in ((source, s[3]), (None, s[3])):  # the edge, and the service it enters
            e = edges[key]
            e["calls"] += 1
            e["errors"] += s[5]
            e["times"].append(s[4])
    out = []
    for (a, b), e in edges.items():
        t = e.pop("times")
        out.append({"kind": "service" if a is None else "edge", "from": a or "", "service": b, **e, "p50": quantile(t, 0.5), "p95": quantile(t, 0.95), "p99": quantile(t, 0.99)})
    return sorted(out, key=lambda e: (e["kind"], e["from"], e["service"]))


print(json.dumps({f.rsplit("/", 1)[-1]: graph(json.load(open(f))) for f in sys.argv[1:]}, indent=1))
