package rows

import "github.com/parallax-hpc/parallax/internal/store/local/disk"

// Peek calls f with frames for the use of one goroutine, which were used before where there are such.
func (r *Table) Peek(f func(*Frames) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	frames, _ := r.peeks.Get().(*Frames)
	if frames == nil {
		frames = r.Frames()
	}
	err := disk.Guard(func() error { return f(frames) })
	if err == nil { // else one may be half unpacked
		r.peeks.Put(frames)
	}
	return err
}
