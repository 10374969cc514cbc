package perfetto

import (
	"fmt"
	"testing"
)

func TestPrintsOfAtraceAreTakenApart(t *testing.T) {
	for text, want := range map[string]string{
		"B|1636|pokeUserActivity\n": "B 1636 true [] [pokeUserActivity] 0",
		"B|1636|a|b\n\x00":          "B 1636 true [] [a|b] 0",
		"B|1636|":                   "B 1636 true [] [] 0",
		"E|1636":                    "E 1636 true [] [] 0",
		"E":                         "E 0 false [] [] 0",
		"C|1636|wq:monitor|-7":      "C 1636 true [] [wq:monitor] -7",
		"C|3209|TransfersBytesPendingOnDisk-value|0|Blob": "C 3209 true [] [TransfersBytesPendingOnDisk-value] 0",
		"S|1636|frame_capture|123":                        "S 1636 true [] [frame_capture] 123",
		"F|1636|frame_capture|456":                        "F 1636 true [] [frame_capture] 456",
		"I|4820|instant":                                  "I 4820 true [] [instant] 0",
		"N|1938|track_name|instant_name":                  "N 1938 true [track_name] [instant_name] 0",
		"G|1339|track_name|slice_name|789":                "G 1339 true [track_name] [slice_name] 789",
		"H|6890|track_name|slice_name|135":                "H 6890 true [track_name] [] 135",
		"H|6890|track_name|135":                           "H 6890 true [track_name] [] 135",
		"":                                                "",
		"B":                                               "",
		"B|x|name":                                        "",
		"C|1|name|many":                                   "",
		"S|1|name":                                        "",
		"BB|1|name":                                       "",
		"trace_event_clock_sync: parent_ts=23.5":          "",
		"some random text":                                "",
	} {
		m, ok := parseMark([]byte(text))
		got := ""
		if ok {
			got = fmt.Sprintf("%c %d %v [%s] [%s] %d", m.phase, m.pid, m.owned, m.track, m.name, m.number)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
