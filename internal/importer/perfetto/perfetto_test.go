package perfetto

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// A trace may end after any packet, so a cut there cannot be told.
func TestFormat(t *testing.T) {
	var cases []importertest.Case
	for _, name := range samples(t) {
		cases = append(cases, importertest.Case{Path: name + ".pftrace", Anywhere: true})
	}
	importertest.Run(t, Format, append(cases,
		importertest.Case{Path: "packed.pftrace", Anywhere: true},
		importertest.Case{Path: "ranks", Anywhere: true, Most: 20},
	))
}

func FuzzReader(f *testing.F) {
	var files []string
	for _, name := range append(samples(f), "packed") {
		files = append(files, "testdata/"+name+".pftrace")
	}
	importertest.Fuzz(f, Format, "x.pftrace", files...)
}

func TestDamagedSample(t *testing.T) {
	importertest.Damage(t, Format, "public/perfetto/omnitrace-mpi-4ranks", 60)
}

// samples are the traces that are kept as text.
func samples(t testing.TB) (names []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.textproto")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".textproto"))
	}
	return names
}

// The binary samples are what the texts beside them say.
func TestSamplesAreWhatTheirTextSays(t *testing.T) {
	var all []byte
	for _, name := range samples(t) {
		text, err := os.ReadFile("testdata/" + name + ".textproto")
		if err != nil {
			t.Fatal(err)
		}
		b := encode(t, string(text))
		same(t, "testdata/"+name+".pftrace", b)
		if name == "rocm" {
			all = b
		}
	}
	same(t, "testdata/packed.pftrace", packed(t, all))
}

// packed makes a trace whose packets are compressed, in two bundles, the second
// with the newer packing, and a marker between them.
func packed(t *testing.T, b []byte) []byte {
	t.Helper()
	half := 0
	for half < len(b)/2 {
		half += protowire.ConsumeFieldValue(1, protowire.BytesType, b[half+1:]) + 1
	}
	var out []byte
	bundle := func(number protowire.Number, packed []byte) {
		inner := protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), packed)
		out = protowire.AppendBytes(protowire.AppendTag(out, 1, protowire.BytesType), inner)
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(b[:half])
	w.Close()
	bundle(packetCompressed, z.Bytes())
	mark := protowire.AppendBytes(protowire.AppendTag(nil, 36, protowire.BytesType), marker)
	out = protowire.AppendBytes(protowire.AppendTag(out, 1, protowire.BytesType), mark)
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bundle(packetZstdCompressed, e.EncodeAll(b[half:], nil))
	return out
}

// same holds bytes against a file, or writes it.
func same(t *testing.T, file string, b []byte) {
	t.Helper()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if !bytes.Equal(want, b) {
		t.Errorf("%s is not what its text says; -update writes it", file)
	}
}
