package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Intervals with many attributes are most of a store of a GPU job: which interval one is of, and which attribute it is, take hardly any room.
func TestWhichAttributeAnIntervalHasTakesAByteAtMost(t *testing.T) {
	const rows, each = 50_000, 4
	path := build(t, Options{}, func(w trace.Writer) {
		region := w.Region(trace.Region{Name: "kernel"})
		var keys []trace.AttributeID
		for _, name := range []string{"stream", "grid", "block", "bytes"} {
			keys = append(keys, w.Attribute(name))
		}
		s := w.Stream(thread(w, 0), trace.StreamOptions{})
		for i := range rows {
			s.Enter(trace.Time(10*i), region)
			for k, id := range keys {
				s.Attribute(id, trace.Integer(int64(i*k)))
			}
			s.Leave(trace.Time(10*i+7), region)
		}
		_ = s.Close()
	})
	size := int64(0)
	for _, name := range []string{"interval_fact.row.u64", "interval_fact.attribute.u32"} {
		info, err := os.Stat(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > rows*each {
		t.Errorf("%d bytes for %d attributes", size, rows*each)
	}
}
