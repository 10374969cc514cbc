package importer

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// zeroBytes counts bytes that are zero in the strings of a run. A block that was never
// written, of a full disk or a crash, reads as zeros: names go on across it, lines and
// records in it are gone, and no grammar tells.
type zeroBytes struct {
	mu    sync.Mutex
	count int64
	first string // where the first one lies
}

// watch counts in the bytes read from r; nil watches nothing.
func (z *zeroBytes) watch(r io.Reader, label string) io.Reader {
	if z == nil {
		return r
	}
	return &zeroWatcher{r: r, zeros: z, label: label}
}

func (z *zeroBytes) report(w trace.Writer) {
	if z != nil && z.count > 0 {
		w.Report(trace.MissingEvents,
			"bytes of a text that are zero, as of a block that was never written", z.count, z.first)
	}
}

type zeroWatcher struct {
	r     io.Reader
	zeros *zeroBytes
	label string
	read  int64
}

func (w *zeroWatcher) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if at := bytes.IndexByte(p[:n], 0); at >= 0 {
		w.zeros.mu.Lock()
		if w.zeros.count == 0 {
			w.zeros.first = fmt.Sprintf("%s: byte %d", w.label, w.read+int64(at))
		}
		w.zeros.count += int64(bytes.Count(p[at:n], []byte{0}))
		w.zeros.mu.Unlock()
	}
	w.read += int64(n)
	return n, err
}
