package perfetto

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// A spec says how a field is encoded: as a number, a double, eight fixed bytes,
// bytes, a packed list, or a message of a kind.
type spec struct {
	number protowire.Number
	as     string // "int", "double", "fixed", "bytes", "packed", or the name of a message
}

// schema holds the messages that the samples use, from protos/perfetto/trace.
var schema = map[string]map[string]spec{
	"trace": {"packet": {1, "packet"}},
	"packet": {
		"ftrace_events": {1, "bundle"}, "process_tree": {2, "processtree"}, "clock_snapshot": {6, "snapshot"}, "timestamp": {8, "int"},
		"trusted_packet_sequence_id": {10, "int"}, "track_event": {11, "event"}, "interned_data": {12, "interned"}, "sequence_flags": {13, "int"},
		"incremental_state_cleared": {41, "int"}, "previous_packet_dropped": {42, "int"}, "thread_descriptor": {44, "thread"},
		"perf_sample": {66, "sample"}, "gpu_counter_event": {52, "gpucounters"}, "gpu_render_stage_event": {53, "stage"}, "timestamp_clock_id": {58, "int"}, "trace_packet_defaults": {59, "defaults"},
		"track_descriptor": {60, "track"}, "first_packet_on_sequence": {87, "int"}, "battery": {38, "bytes"},
	},
	"event": {
		"debug_annotations": {4, "note"}, "legacy_event": {6, "legacy"}, "type": {9, "int"}, "name_iid": {10, "int"}, "track_uuid": {11, "int"},
		"extra_counter_values": {12, "int"}, "thread_time_absolute_us": {17, "int"}, "thread_instruction_count_absolute": {20, "int"},
		"categories": {22, "bytes"}, "name": {23, "bytes"}, "category_iids": {3, "int"}, "counter_value": {30, "int"}, "extra_counter_track_uuids": {31, "int"},
		"double_counter_value": {44, "double"}, "extra_double_counter_track_uuids": {45, "int"}, "extra_double_counter_values": {46, "double"},
		"flow_ids": {47, "fixed"}, "terminating_flow_ids": {48, "fixed"}, "callstack": {55, "inlinestack"}, "callstack_iid": {56, "int"},
		"callstack_weight": {57, "double"}, "timestamp_delta_us": {1, "int"}, "timestamp_absolute_us": {16, "int"}, "log_message": {21, "log"},
		"source_location_iid": {34, "int"}, "correlation_id": {52, "int"},
	},
	"log":         {"source_location_iid": {1, "int"}, "body_iid": {2, "int"}},
	"inlinestack": {"frames": {1, "inlineframe"}},
	"inlineframe": {"function_name": {1, "bytes"}, "source_file": {2, "bytes"}, "line_number": {3, "int"}},
	"legacy": {
		"phase": {2, "int"}, "duration_us": {3, "int"}, "unscoped_id": {6, "int"}, "bind_id": {8, "int"}, "local_id": {10, "int"}, "global_id": {11, "int"},
		"bind_to_enclosing": {12, "int"}, "flow_direction": {13, "int"}, "instant_event_scope": {14, "int"}, "pid_override": {18, "int"}, "tid_override": {19, "int"},
	},
	"note": {
		"name_iid": {1, "int"}, "bool_value": {2, "int"}, "uint_value": {3, "int"}, "int_value": {4, "int"}, "double_value": {5, "double"}, "string_value": {6, "bytes"},
		"pointer_value": {7, "int"}, "nested_value": {8, "nested"}, "legacy_json_value": {9, "bytes"}, "name": {10, "bytes"}, "dict_entries": {11, "note"}, "array_values": {12, "note"},
		"string_value_iid": {17, "int"},
	},
	"nested": {"nested_type": {1, "int"}, "dict_keys": {2, "bytes"}, "dict_values": {3, "nested"}, "array_values": {4, "nested"}, "int_value": {5, "int"}, "string_value": {8, "bytes"}},
	"track": {
		"uuid": {1, "int"}, "name": {2, "bytes"}, "process": {3, "process"}, "thread": {4, "thread"}, "parent_uuid": {5, "int"}, "chrome_process": {6, "chromeprocess"},
		"counter": {8, "counter"}, "disallow_merging_with_system_tracks": {9, "int"}, "static_name": {10, "bytes"}, "sibling_order_rank": {12, "int"}, "description": {14, "bytes"},
	},
	"process":       {"pid": {1, "int"}, "cmdline": {2, "bytes"}, "process_name": {6, "bytes"}},
	"chromeprocess": {"host_app_package_name": {5, "bytes"}},
	"thread":        {"pid": {1, "int"}, "tid": {2, "int"}, "thread_name": {5, "bytes"}, "reference_timestamp_us": {6, "int"}},
	"counter":       {"type": {1, "int"}, "unit": {3, "int"}, "unit_multiplier": {4, "int"}, "is_incremental": {5, "int"}, "unit_name": {6, "bytes"}},
	"defaults":      {"track_event_defaults": {11, "eventdefaults"}, "timestamp_clock_id": {58, "int"}},
	"eventdefaults": {"track_uuid": {11, "int"}, "extra_counter_track_uuids": {31, "int"}, "extra_double_counter_track_uuids": {45, "int"}},
	"interned": {
		"event_categories": {1, "text"}, "event_names": {2, "text"}, "debug_annotation_names": {3, "text"}, "source_locations": {4, "source"}, "function_names": {5, "str"},
		"frames": {6, "frame"}, "callstacks": {7, "stack"}, "build_ids": {16, "str"}, "mapping_paths": {17, "str"}, "source_paths": {18, "str"}, "mappings": {19, "mapping"},
		"log_message_body": {20, "body"}, "gpu_specifications": {24, "text"}, "debug_annotation_string_values": {29, "str"},
	},
	"text":        {"iid": {1, "int"}, "name": {2, "bytes"}},
	"str":         {"iid": {1, "int"}, "str": {2, "bytes"}},
	"body":        {"iid": {1, "int"}, "body": {2, "bytes"}},
	"source":      {"iid": {1, "int"}, "file_name": {2, "bytes"}, "function_name": {3, "bytes"}, "line_number": {4, "int"}},
	"frame":       {"iid": {1, "int"}, "function_name_id": {2, "int"}, "mapping_id": {3, "int"}, "rel_pc": {4, "int"}},
	"stack":       {"iid": {1, "int"}, "frame_ids": {2, "int"}},
	"mapping":     {"iid": {1, "int"}, "build_id": {2, "int"}, "start": {4, "int"}, "end": {5, "int"}, "path_string_ids": {7, "int"}},
	"snapshot":    {"clocks": {1, "clock"}, "primary_trace_clock": {2, "int"}},
	"clock":       {"clock_id": {1, "int"}, "timestamp": {2, "int"}, "is_incremental": {3, "int"}, "unit_multiplier_ns": {4, "int"}},
	"bundle":      {"cpu": {1, "int"}, "event": {2, "kernel"}, "lost_events": {3, "int"}, "compact_sched": {4, "compact"}},
	"kernel":      {"timestamp": {1, "int"}, "pid": {2, "int"}, "print": {3, "print"}, "sched_switch": {4, "switch"}, "sched_waking": {20, "waking"}},
	"switch":      {"prev_comm": {1, "bytes"}, "prev_pid": {2, "int"}, "prev_state": {4, "int"}, "next_comm": {5, "bytes"}, "next_pid": {6, "int"}},
	"sample":      {"cpu": {1, "int"}, "pid": {2, "int"}, "tid": {3, "int"}, "callstack_iid": {4, "int"}, "unwind_error": {16, "int"}, "kernel_records_lost": {17, "int"}, "sample_skipped_reason": {18, "int"}, "producer_event": {19, "int"}},
	"print":       {"ip": {1, "int"}, "buf": {2, "bytes"}},
	"gpucounters": {"counter_descriptor": {1, "gpuspecs"}, "counters": {2, "gpuvalue"}, "gpu_id": {3, "int"}, "counter_descriptor_iid": {4, "int"}},
	"gpuspecs":    {"specs": {1, "gpuspec"}},
	"gpuspec":     {"counter_id": {1, "int"}, "name": {2, "bytes"}, "description": {3, "bytes"}, "numerator_units": {7, "int"}, "denominator_units": {8, "int"}},
	"gpuvalue":    {"counter_id": {1, "int"}, "int_value": {2, "int"}, "double_value": {3, "double"}},
	"waking":      {"comm": {1, "bytes"}, "pid": {2, "int"}},
	"compact":     {"switch_timestamp": {1, "packed"}, "switch_prev_state": {2, "packed"}, "switch_next_pid": {3, "packed"}, "switch_next_prio": {4, "packed"}, "intern_table": {5, "bytes"}, "switch_next_comm_index": {6, "packed"}},
	"processtree": {"processes": {1, "psprocess"}, "threads": {2, "psthread"}},
	"psprocess":   {"pid": {1, "int"}, "cmdline": {3, "bytes"}},
	"psthread":    {"tid": {1, "int"}, "name": {2, "bytes"}, "tgid": {3, "int"}},
	"stage":       {"event_id": {1, "int"}, "duration": {2, "int"}, "submission_id": {10, "int"}, "gpu_id": {11, "int"}, "hw_queue_iid": {13, "int"}, "stage_iid": {14, "int"}, "name": {17, "bytes"}},
}

// words are the values that samples write by name.
var words = map[string]uint64{"true": 1, "false": 0, "FLOW_IN": 1, "FLOW_OUT": 2, "FLOW_INOUT": 3, "SCOPE_GLOBAL": 1, "SCOPE_PROCESS": 2, "SCOPE_THREAD": 3}

// encode turns a trace in the text form of protocol buffers into its bytes.
func encode(t testing.TB, text string) []byte {
	t.Helper()
	e := &encoder{rest: text}
	b, err := e.message("trace")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type encoder struct{ rest string }

// token gives the next word, mark or quoted text.
func (e *encoder) token() string {
	for {
		e.rest = strings.TrimLeft(e.rest, " \t\r\n,;")
		if !strings.HasPrefix(e.rest, "#") {
			break
		}
		_, e.rest, _ = strings.Cut(e.rest, "\n")
	}
	if e.rest == "" {
		return ""
	}
	n := strings.IndexAny(e.rest, " \t\r\n,;:{}[]#\"")
	switch {
	case e.rest[0] == '"':
		for n = 1; e.rest[n] != '"'; n++ {
			if e.rest[n] == '\\' {
				n++
			}
		}
		n++
	case n == 0:
		n = 1
	case n < 0:
		n = len(e.rest)
	}
	word := e.rest[:n]
	e.rest = e.rest[n:]
	return word
}

func (e *encoder) message(kind string) ([]byte, error) {
	var b []byte
	packed := map[protowire.Number][]byte{}
	for {
		name := e.token()
		if name == "" || name == "}" {
			break
		}
		f, ok := schema[kind][name]
		if !ok {
			return nil, fmt.Errorf("%s has no field %q", kind, name)
		}
		next := e.token()
		if next == ":" {
			next = e.token()
		}
		if next == "{" {
			inner, err := e.message(f.as)
			if err != nil {
				return nil, err
			}
			b = protowire.AppendBytes(protowire.AppendTag(b, f.number, protowire.BytesType), inner)
			continue
		}
		var err error
		if f.as == "packed" {
			var v uint64
			v, err = value(next)
			packed[f.number] = protowire.AppendVarint(packed[f.number], v)
		} else {
			b, err = scalar(b, f, next)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", kind, name, err)
		}
	}
	for n := protowire.Number(1); n < 20; n++ {
		if packed[n] != nil {
			b = protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), packed[n])
		}
	}
	return b, nil
}

func scalar(b []byte, f spec, word string) ([]byte, error) {
	switch f.as {
	case "bytes":
		text, err := strconv.Unquote(word)
		return protowire.AppendString(protowire.AppendTag(b, f.number, protowire.BytesType), text), err
	case "double":
		v, err := strconv.ParseFloat(word, 64)
		return protowire.AppendFixed64(protowire.AppendTag(b, f.number, protowire.Fixed64Type), math.Float64bits(v)), err
	case "fixed":
		v, err := value(word)
		return protowire.AppendFixed64(protowire.AppendTag(b, f.number, protowire.Fixed64Type), v), err
	}
	v, err := value(word)
	return protowire.AppendVarint(protowire.AppendTag(b, f.number, protowire.VarintType), v), err
}

func value(word string) (uint64, error) {
	if v, ok := words[word]; ok {
		return v, nil
	}
	if v, err := strconv.ParseUint(word, 10, 64); err == nil {
		return v, nil
	}
	v, err := strconv.ParseInt(word, 10, 64)
	return uint64(v), err
}
