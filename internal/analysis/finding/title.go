package finding

import "strings"

// titles are the kinds as people call them, where that is more than the kind's own words.
var titles = map[Kind]string{
	Clock: "Clock skew", Data: "Incomplete trace", Rotating: "Rotating straggler", Growth: "Slowdown over time",
	Imbalance: "Load imbalance", Serial: "Serial section", IO: "I/O bottleneck", Lock: "Lock contention",
	Crowded: "Oversubscription", SlowPhase: "Slow phase", Periodic: "Periodic slowdown",
	Unexplained: "Unexplained waiting", IdleStart: "Late start", IdleEnd: "Early end",
	Heterogeneous: "Heterogeneous locations", Unlike: "Region outlier", GPUIdle: "Idle GPUs",
	MemoryFull: "Device memory full", ProcessorWait: "Scheduler latency", Blocked: "Blocked goroutines",
	Starvation: "Starved goroutine", IdleProcessors: "Idle processors",
	RepeatedCalls: "N+1 calls", SerialCalls: "Sequential calls", Retry: "Retries",
}

// Title is a kind as people call it: "Load imbalance" of imbalance, "Late sender" of late-sender.
func (k Kind) Title() string {
	if t := titles[k]; t != "" {
		return t
	}
	t := string(k)
	if !strings.HasSuffix(t, "-bound") && t != string(StartUp) {
		t = strings.ReplaceAll(t, "-", " ")
	}
	if t == "" {
		return ""
	}
	return strings.ToUpper(t[:1]) + t[1:]
}
