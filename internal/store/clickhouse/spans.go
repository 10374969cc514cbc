package clickhouse

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// SpanTable is the name of the table of spans of OpenTelemetry's exporter. An address that names it as its run asks
// for spans.
const SpanTable = "otel_traces"

// Spans writes the spans that OpenTelemetry's exporter put into the table of an address as OTLP, an object a line, and
// says how many they are. Options of the address choose: from and to, when they begin, as 2026-11-17T08:00:00Z or
// seconds since 1970; service, the name of one, repeatable.
func Spans(ctx context.Context, a *Address, w io.Writer) (n int64, err error) {
	c, err := connect(ctx, a)
	if err != nil {
		return 0, err
	}
	defer c.close()
	out := bufio.NewWriterSize(w, 1<<20)
	for _, s := range c.servers { // each has the spans of its own table
		k, err := s.spans(ctx, a, out)
		if err != nil {
			return n, fmt.Errorf("read spans of %s: %w", a, err)
		}
		n += k
	}
	if n == 0 {
		return 0, fmt.Errorf("%s holds no spans in this time and of these services", a)
	}
	return n, out.Flush()
}

// A spanColumns is how the columns of a table of spans are asked for: versions of the exporter differ in types.
type spanColumns map[string]string

func (s *server) spanColumns(ctx context.Context, a *Address) (spanColumns, error) {
	rows,
		err := s.Query(ctx, "select name, type from system.columns where database = ? and table = ?", a.Database,
		SpanTable)
	if err != nil {
		return nil, s.failed(err)
	}
	defer rows.Close()
	out := spanColumns{}
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, s.failed(err)
		}
		out[name] = kind
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed(err)
	}
	if len(out) == 0 {
		return nil,
			fmt.Errorf("%s has no table %s in database %s; OpenTelemetry's clickhouseexporter makes it", s.host,
				SpanTable, a.Database)
	}
	for _, need := range []string{"Timestamp", "TraceId", "SpanId", "ParentSpanId", "SpanName", "SpanKind",
		"ServiceName", "Duration", "StatusCode"} {
		if out[need] == "" {
			return nil,
				fmt.Errorf("%s: table %s has no column %s, so it is not the exporter's", s.host, SpanTable, need)
		}
	}
	return out, nil
}

// nanoseconds returns a time as a number.
func (c spanColumns) nanoseconds(column string) string {
	switch kind := c[column]; {
	case strings.Contains(kind, "DateTime64"):
		return "toUnixTimestamp64Nano(" + column + ")"
	case strings.Contains(kind, "DateTime"):
		return "toInt64(toUnixTimestamp(" + column + ")) * 1000000000"
	}
	return "toInt64(" + column + ")"
}

// moment writes a time so that it can be compared with a column.
func (c spanColumns) moment(column string, t time.Time) string {
	switch kind := c[column]; {
	case strings.Contains(kind, "DateTime64"):
		return fmt.Sprintf("fromUnixTimestamp64Nano(toInt64(%d))", t.UnixNano())
	case strings.Contains(kind, "DateTime"):
		return fmt.Sprintf("toDateTime(%d)", t.Unix())
	}
	return strconv.FormatInt(t.UnixNano(), 10)
}

// times returns a list of times as numbers.
func (c spanColumns) times(column string) string {
	switch {
	case c[column] == "":
		return "emptyArrayInt64()"
	case strings.Contains(c[column], "DateTime64"):
		return "arrayMap(x -> toUnixTimestamp64Nano(x), " + column + ")"
	}
	return column
}

// texts returns a list of strings.
func (c spanColumns) texts(column string) string {
	if c[column] == "" {
		return "emptyArrayString()"
	}
	return "arrayMap(x -> toString(x), " + column + ")"
}

// pairs are the keys and the values of a map.
func (c spanColumns) pairs(column string) string {
	if strings.HasPrefix(c[column], "Map") {
		return "arrayMap(x -> toString(x), mapKeys(" + column + ")), mapValues(" + column + ")"
	}
	return c.texts(column+".keys") + ", " + c.texts(column+".values")
}

func (c spanColumns) text(column string) string {
	if c[column] == "" {
		return "''"
	}
	return "toString(" + column + ")"
}

func (s *server) spans(ctx context.Context, a *Address, out io.Writer) (n int64, err error) {
	c, err := s.spanColumns(ctx, a)
	if err != nil {
		return 0, err
	}
	statement := "select " + strings.Join([]string{
		c.nanoseconds("Timestamp"), "toInt64(Duration)", c.text("TraceId"), c.text("SpanId"), c.text("ParentSpanId"),
		c.text("SpanName"), c.text("SpanKind"), c.text("ServiceName"),
		c.text("ScopeName"), c.text("ScopeVersion"), c.text("StatusCode"), c.text("StatusMessage"),
		c.pairs("ResourceAttributes"), c.pairs("SpanAttributes"),
		c.times("Events.Timestamp"), c.texts("Events.Name"), c.texts("Links.TraceId"), c.texts("Links.SpanId"),
	}, ", ") + " from " + SpanTable + " where 1"
	var args []any
	for _, edge := range []struct{ option, sign string }{{"from", ">="}, {"to", "<"}} {
		if text := a.Options.Get(edge.option); text != "" {
			t, err := parseMoment(text)
			if err != nil {
				return 0, fmt.Errorf("option %s of the address: %w", edge.option, err)
			}
			statement += " and Timestamp " + edge.sign + " " + c.moment("Timestamp", t)
		}
	}
	if services := a.Options["service"]; len(services) > 0 {
		statement += " and ServiceName in (?" + strings.Repeat(", ?", len(services)-1) + ")"
		for _, x := range services {
			args = append(args, x)
		}
	}
	rows, err := s.Query(ctx, statement, args...)
	if err != nil {
		return 0, s.failed(err)
	}
	defer rows.Close()
	enc := json.NewEncoder(out)
	for ; rows.Next(); n++ {
		var r spanRow
		err := rows.Scan(&r.begin, &r.duration, &r.trace, &r.span, &r.parent, &r.name, &r.kind, &r.service, &r.scope,
			&r.version, &r.status, &r.message,
			&r.resource[0], &r.resource[1], &r.tags[0], &r.tags[1], &r.eventTime, &r.eventName, &r.linkTrace,
			&r.linkSpan)
		if err != nil {
			return n, s.failed(err)
		}
		if err := enc.Encode(r.object()); err != nil {
			return n, err
		}
	}
	return n, s.failed(rows.Err())
}

// parseMoment reads a time as people write it.
func parseMoment(s string) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(n, 0), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: want 2026-11-17T08:00:00Z or seconds since 1970", s)
}

// A spanRow is a row of the table.
type spanRow struct {
	begin, duration                 int64
	trace, span, parent             string
	name, kind, service             string
	scope, version, status, message string
	resource, tags                  [2][]string // keys and values
	eventTime                       []int64
	eventName, linkTrace, linkSpan  []string
}

// Numbers of OTLP for the words of the exporter.
var (
	spanKinds   = map[string]int{"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}
	statusCodes = map[string]int{"ok": 1, "error": 2}
)

// word takes the prefixes of older versions away.
func word(s string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(s), "span_kind_"), "status_code_")
}

type object = map[string]any

func attributes(pairs [2][]string) []object {
	out := []object{}
	for i := range min(len(pairs[0]), len(pairs[1])) {
		out = append(out, object{"key": pairs[0][i], "value": object{"stringValue": pairs[1][i]}})
	}
	return out
}

// object returns the span as OTLP has it.
func (r *spanRow) object() object {
	resource := attributes(r.resource)
	named := false
	for _, k := range r.resource[0] {
		named = named || k == "service.name"
	}
	if !named {
		resource = append(resource, object{"key": "service.name", "value": object{"stringValue": r.service}})
	}
	span := object{
		"traceId": r.trace, "spanId": r.span, "parentSpanId": r.parent, "name": r.name, "kind": spanKinds[word(r.kind)],
		"startTimeUnixNano": strconv.FormatInt(r.begin, 10),
		"endTimeUnixNano":   strconv.FormatInt(r.begin+r.duration, 10), "attributes": attributes(r.tags),
		"status": object{"code": statusCodes[word(r.status)], "message": r.message},
	}
	var events, links []object
	for i := range min(len(r.eventTime), len(r.eventName)) {
		events = append(events, object{"timeUnixNano": strconv.FormatInt(r.eventTime[i], 10), "name": r.eventName[i]})
	}
	for i := range min(len(r.linkTrace), len(r.linkSpan)) {
		links = append(links, object{"traceId": r.linkTrace[i], "spanId": r.linkSpan[i]})
	}
	if span["events"] = events; events == nil {
		delete(span, "events")
	}
	if span["links"] = links; links == nil {
		delete(span, "links")
	}
	return object{"resourceSpans": []object{{
		"resource":   object{"attributes": resource},
		"scopeSpans": []object{{"scope": object{"name": r.scope, "version": r.version}, "spans": []object{span}}},
	}}}
}
