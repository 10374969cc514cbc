package pprof

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// oldCPU is a CPU profile as gperftools writes it.
func oldCPU(samples int) []byte {
	var b []byte
	word := func(list ...uint64) {
		for _, x := range list {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
	}
	word(0, 3, 0, 10000, 0)
	for i := range samples {
		word(uint64(i+1), 2, 0x401000+uint64(i)*16, 0x402000)
	}
	word(0, 1, 0)
	return append(b, "00400000-00500000 r-xp 00000000 08:01 42 /bin/program\n00600000-00700000 r-xp 00000000 08:01 43 /lib/libc.so\n"...)
}

func oldHeap(samples int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "heap profile: %6d: %8d [%6d: %8d] @ heapprofile\n", samples, 100*samples, samples, 100*samples)
	for i := range samples {
		fmt.Fprintf(&b, "%6d: %8d [%6d: %8d] @ 0x%x 0x402000\n", 1, 100, 1, 100, 0x401000+16*i)
	}
	b.WriteString("\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42 /bin/program\n")
	return []byte(b.String())
}

// The library that parses older profiles takes a cut for the end. Wherever it lies,
// it is refused or said.
func TestOlderProfilesThatBreakOffSaySo(t *testing.T) {
	for name, whole := range map[string][]byte{"cpu": oldCPU(12), "heap": oldHeap(12)} {
		imported := func(data []byte) (map[string]int64, error) {
			s, err := importer.NewSourceFS("x", fstest.MapFS{"profile": {Data: data}})
			if err != nil {
				t.Fatal(err)
			}
			w := importertest.NewCount()
			err = importer.ClaimAs(Format, s)[0].Import(t.Context(), w)
			return w.Reported, err
		}
		report, err := imported(whole)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		before := len(report)
		silent := 0
		// From the last line of the list of objects on nothing may be missing.
		for cut := 80; cut < len(whole)-70; cut++ {
			if name == "cpu" && cut == 8*(5+12*4+3) {
				continue // after the samples: Go's profiles end there
			}
			if report, err := imported(whole[:cut]); err == nil && len(report) <= before {
				silent++
				if silent < 4 {
					t.Errorf("%s cut after %d of %d bytes: nothing is said: %v", name, cut, len(whole), report)
				}
			}
		}
	}
}
