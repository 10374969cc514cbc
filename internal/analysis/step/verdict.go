package step

import "github.com/parallax-hpc/parallax/internal/trace"

// A Bound is the main bottleneck of a job.
type Bound int

// The bounds, as the verdict names them.
const (
	NoGPU Bound = iota
	Input
	LaunchBound
	SynchronizationBound
	CopyBound
	CommunicationBound
	IdleBound // idle for a reason that the file does not tell, or one of its own: the host sleeps
	Compute
	Bounds = int(Compute) + 1
)

var boundNames = [Bounds]string{"", "input", "launch", "synchronization", "copy", "communication", "idle", "compute"}

func (b Bound) String() string { return boundNames[b] }

// The thresholds of the verdict, parts of the time of steps. Those of input are xprof's.
const (
	InputModerate       = 0.05
	InputHigh           = 0.20
	LaunchShare         = 0.20
	SynchronizationPart = 0.10
	CopyShare           = 0.10
	CommunicationShare  = 0.20
	IdleShare           = 0.30
)

var thresholds = [Bounds]float64{Input: InputModerate, LaunchBound: LaunchShare,
	SynchronizationBound: SynchronizationPart, CopyBound: CopyShare, CommunicationBound: CommunicationShare,
	IdleBound: IdleShare}

// A Verdict is the bottleneck of a job: Share is the part of the time of its steps that it costs, for
// compute the part in which GPUs compute. Shares has all of them.
type Verdict struct {
	Bound  Bound
	Share  float64
	Shares [Bounds]float64
}

// Verdict judges the job: the largest loss that passes its threshold, compute where none does.
func (j *Job) Verdict() Verdict {
	var v Verdict
	var whole, loader trace.Time
	var t Time
	for i := range j.Steps {
		s := &j.Steps[i]
		loader += s.Terms[Loader]
		whole += s.Total()
		for _, g := range s.GPUs {
			t.Add(g)
		}
	}
	var causes [Causes]trace.Time
	var drained trace.Time
	for i := range j.GPUs {
		g := &j.GPUs[i]
		from := &g.InSteps
		if len(j.Steps) == 0 {
			t.Add(g.Time)
			from = &g.Causes
		}
		drained += g.Drained
		for c, x := range from {
			causes[c] += x
		}
	}
	if t.Span == 0 {
		return v
	}
	span := float64(t.Span)
	host := trace.Time(0)
	for c := range Cause(Causes) {
		switch c {
		case ByOperators, ByPython, ByAnnotation, ByCall, ByNothing, ByAllocation:
			host += causes[c]
		}
	}
	drained = min(drained, host+causes[BySynchronization])
	v.Shares[Input] = float64(causes[ByLoader]) / span
	if whole > 0 {
		v.Shares[Input] = max(v.Shares[Input], float64(loader)/float64(whole))
	}
	v.Shares[SynchronizationBound] = float64(drained) / span
	v.Shares[LaunchBound] = float64(host+causes[BySynchronization]-drained) / span
	v.Shares[CopyBound] = float64(t.ExposedCopy) / span
	v.Shares[CommunicationBound] = float64(t.ExposedCommunication)/span + float64(causes[ByExchange])/span
	v.Shares[IdleBound] = float64(causes[ByUnknown]+causes[BySleep]+causes[ByQueue]) / span
	v.Shares[Compute] = float64(t.Computation) / span
	v.Bound = Compute
	for b := Input; b < Compute; b++ {
		if s := v.Shares[b]; s >= thresholds[b] && (v.Bound == Compute || s > v.Shares[v.Bound]) {
			v.Bound = b
		}
	}
	v.Share = v.Shares[v.Bound]
	return v
}

// Add adds the times of another GPU.
func (t *Time) Add(x Time) {
	t.Span += x.Span
	t.Computation += x.Computation
	t.ExposedCommunication += x.ExposedCommunication
	t.ExposedCopy += x.ExposedCopy
	t.Idle += x.Idle
	t.Communication += x.Communication
	t.Overlapped += x.Overlapped
}

// Threshold is the share from which on a bound counts.
func (b Bound) Threshold() float64 { return thresholds[b] }
