package fingerprint

import (
	"encoding/json"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A GPU job with fewer intervals is taken apart while one waits; of one with more too much would be kept.
const (
	fewIntervals  = 1 << 20
	mostIntervals = 3 << 24
)

// A Keeping says how something that is found of a whole GPU job lies with its store.
type Keeping[T any] struct {
	Name string // a plain word
	// Version changes with what is found, or how.
	Version int
	Small   func(*T) bool // few enough to be kept
	Sound   func(*T) bool // what was read back speaks of nothing that the run does not have
}

// kept is what lies there.
type kept[T any] struct {
	Version    int    `json:"version"`
	Generation uint64 `json:"generation"`
	Found      *T     `json:"found"`
}

// Kept gives what lies with the store of a large job, if it is of this version and of this run. Else it is found, and
// kept where that can be.
func Kept[T any](r store.Reader, d *view.Devices, k Keeping[T], find func() (*T, error)) (*T, error) {
	if x := k.read(r, d); x != nil {
		return x, nil
	}
	x, err := find()
	if to, keeps := r.(store.Keeper); err == nil && keeps && worthKeeping(r, d) && k.Small(x) {
		if b, bad := json.Marshal(kept[T]{k.Version, r.Generation(), x}); bad == nil {
			_ = to.Keep(k.Name, b) // where it cannot be kept it is found again
		}
	}
	return x, err
}

func (k *Keeping[T]) read(r store.Reader, d *view.Devices) *T {
	from, ok := r.(store.Keeper)
	if !ok || !worthKeeping(r, d) {
		return nil
	}
	b, ok := from.Kept(k.Name)
	if !ok {
		return nil
	}
	var x kept[T]
	if json.Unmarshal(b, &x) != nil || x.Version != k.Version || x.Generation != r.Generation() || x.Found == nil ||
		!k.Sound(x.Found) {
		return nil
	}
	return x.Found
}

// LargeJob gives the devices of a run of which things are kept, nil for others.
func LargeJob(r store.Reader) *view.Devices {
	if n := r.Info().Intervals; !r.Info().Timed() || n < fewIntervals || n > mostIntervals {
		return nil
	}
	if d := view.FindDevices(r.Locations(), nil); len(d.GPUs) > 0 {
		return d
	}
	return nil
}

func worthKeeping(r store.Reader, d *view.Devices) bool {
	n := r.Info().Intervals
	return len(d.GPUs) > 0 && n >= fewIntervals && n <= mostIntervals
}
