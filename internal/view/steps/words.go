package steps

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Verdict names the bottleneck of the job.
type Verdict struct {
	Bound string  `json:"bound"`
	Share float64 `json:"share"`
	Text  string  `json:"text"`
	// Thresholds from which on a share counts, by bound.
	Thresholds map[string]float64 `json:"thresholds"`
	Shares     map[string]float64 `json:"shares"`
}

func (r *result) judge() Verdict {
	v := r.job.Verdict()
	out := Verdict{Bound: v.Bound.String(), Share: v.Share, Thresholds: map[string]float64{},
		Shares: map[string]float64{}}
	for b := step.Input; b <= step.Compute; b++ {
		out.Shares[b.String()] = v.Shares[b]
		if b < step.Compute {
			out.Thresholds[b.String()] = b.Threshold()
		}
	}
	of := "of the steps"
	if len(r.job.Steps) == 0 {
		of = "of the GPU's time"
	}
	share := view.FormatShare(v.Share)
	switch v.Bound {
	case step.Input:
		how := "Moderately"
		if v.Share >= step.InputHigh {
			how = "Highly"
		}
		out.Text = fmt.Sprintf("%s input-bound: loading data takes %s %s (moderate from %s, high from %s).", how, share,
			of, view.FormatShare(step.InputModerate), view.FormatShare(step.InputHigh))
	case step.LaunchBound:
		out.Text = fmt.Sprintf("Launch-bound: for %s %s the GPU waits for the host to launch work (from %s on).%s",
			share, of, view.FormatShare(step.LaunchShare), r.meanwhile())
	case step.SynchronizationBound:
		out.Text = fmt.Sprintf("Synchronization-bound: for %s %s the GPU is idle because the host waited for it "+
			"before it launched more (from %s on).", share, of, view.FormatShare(step.SynchronizationPart))
	case step.CopyBound:
		out.Text = fmt.Sprintf("Copy-bound: copies that nothing hides take %s %s (from %s on).", share, of,
			view.FormatShare(step.CopyShare))
	case step.CommunicationBound:
		out.Text = fmt.Sprintf("Communication-bound: communication that computation does not hide takes %s %s (from "+
			"%s on).", share, of, view.FormatShare(step.CommunicationShare))
	case step.IdleBound:
		out.Text = fmt.Sprintf("Idle: for %s %s the GPU has nothing to do (from %s on).%s", share, of,
			view.FormatShare(step.IdleShare), r.meanwhile())
	case step.Compute:
		out.Text = fmt.Sprintf("Compute-bound: GPUs compute for %s %s, and no loss passes its threshold (input %s, "+
			"launch and communication %s, synchronization and copies %s).", share, of,
			view.FormatShare(step.InputModerate), view.FormatShare(step.LaunchShare), view.FormatShare(step.CopyShare))
	default:
		out.Text = "No work of a GPU: the bars show what the host did."
	}
	return out
}

// idleTime is the idle time of all GPUs, for the JSON output.
func (r *result) idleTime() Idle {
	sum, whole := r.job.Idle()
	out := Idle{Time: whole, Causes: causes(&sum), Shares: map[string]float64{}}
	for c, t := range out.Causes {
		out.Shares[c] = float64(t) / float64(max(whole, 1))
	}
	return out
}

// meanwhile describes the host's activity while the GPU waited for it.
func (r *result) meanwhile() string {
	sum, whole := r.job.Idle()
	var parts []string
	for _, c := range step.Ranked(sum) {
		if share := float64(sum[c]) / float64(max(whole, 1)); share >= 0.1 && len(parts) < 3 {
			parts = append(parts, fmt.Sprintf("%s %s", c.Words(), view.FormatShare(share)))
		}
	}
	if parts == nil {
		return ""
	}
	return " Of its idle time: " + strings.Join(parts, ", ") + "."
}
