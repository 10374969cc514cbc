package cube

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
)

// members unpacks a sample.
func members(t *testing.T, file string) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if out[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func names(parts map[string][]byte) (list []string) {
	for n := range parts {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// pack makes a profile of parts.
func pack(t *testing.T, parts map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, n := range names(parts) {
		if err := w.WriteHeader(&tar.Header{Name: n, Size: int64(len(parts[n])), Mode: 0o600, Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(parts[n]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t *testing.T, files fstest.MapFS) store.Reader {
	t.Helper()
	s, err := importer.NewSourceFS("sample", files)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	m := storetest.NewMemory()
	if err := runs[0].Import(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	return m.Reader()
}

func one(data []byte) fstest.MapFS { return fstest.MapFS{"p.cubex": {Data: data}} }

// zipped is the packed form of a data file.
func zipped(t *testing.T, data []byte, rows int) []byte {
	t.Helper()
	data = data[len(dataMark):]
	out := binary.LittleEndian.AppendUint64([]byte(packedMark), uint64(rows))
	var body []byte
	for i := range rows {
		row := data[i*len(data)/rows : (i+1)*len(data)/rows]
		var b bytes.Buffer
		if len(bytes.Trim(row, "\x00")) > 0 {
			z := zlib.NewWriter(&b)
			_, _ = z.Write(row)
			z.Close()
		}
		for _, v := range []int{i * len(row), len(body), b.Len()} {
			out = binary.LittleEndian.AppendUint64(out, uint64(v))
		}
		body = append(body, b.Bytes()...)
	}
	return append(out, body...)
}

func gz(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	z.Close()
	return b.Bytes()
}

// The same profile kept in other ways is the same profile.
func TestEveryStorageOfAProfileReadsTheSame(t *testing.T) {
	const sample = "testdata/values.cubex"
	want := tracetest.Dump(read(t, one(pack(t, members(t, sample)))))
	for name, make := range map[string]func(parts map[string][]byte) fstest.MapFS{
		"packed rows": func(p map[string][]byte) fstest.MapFS {
			for n := range p {
				if strings.HasSuffix(n, ".data") {
					p[n] = zipped(t, p[n], 3)
				}
			}
			return one(pack(t, p))
		},
		"dense index": func(p map[string][]byte) fstest.MapFS {
			for n := range p {
				if strings.HasSuffix(n, ".index") {
					p[n] = append(slices.Clone(p[n][:17]), 0)
				}
			}
			return one(pack(t, p))
		},
		"packed anchor": func(p map[string][]byte) fstest.MapFS {
			p[anchorName] = gz(p[anchorName])
			return one(pack(t, p))
		},
		"packed as a whole": func(p map[string][]byte) fstest.MapFS { return one(gz(pack(t, p))) },
		"a directory": func(p map[string][]byte) fstest.MapFS {
			files := fstest.MapFS{}
			for n, data := range p {
				files["dir/"+n] = &fstest.MapFile{Data: data}
			}
			return files
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := tracetest.Dump(read(t, make(members(t, sample))))
			clean := func(s string) string { return strings.ReplaceAll(s, "sample/dir/anchor.xml: ", "sample/p.cubex: ") }
			if d := tracetest.Diff(clean(want), clean(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A part that is missing takes the values of its metric along: that is said.
func TestMissingPartsAreCounted(t *testing.T) {
	const sample = "testdata/values.cubex"
	whole := tracetest.Dump(read(t, one(pack(t, members(t, sample)))))
	for n := range members(t, sample) {
		if !strings.HasSuffix(n, ".data") && !strings.HasSuffix(n, ".index") {
			continue
		}
		parts := members(t, sample)
		delete(parts, n)
		r := read(t, one(pack(t, parts)))
		report := importertest.Report(r.Info().Report)
		if tracetest.Dump(r) != whole && report["skipped metrics with an index and no data"]+report["skipped metrics with data and no index"] != 1 {
			t.Errorf("without %s: %v", n, report)
		}
	}
}

func TestWrongChecksumsAreReadAndCounted(t *testing.T) {
	parts := members(t, "testdata/values.cubex")
	data := pack(t, parts)
	for at := 0; at+tarBlock <= len(data); {
		h, ok := parseHeader(data[at : at+tarBlock])
		if !ok {
			break
		}
		copy(data[at+148:], "0000000\x00")
		at += tarBlock + int(h.size+tarBlock-1)/tarBlock*tarBlock
	}
	r := read(t, one(data))
	report := importertest.Report(r.Info().Report)
	if n := report["repaired tar headers with a wrong checksum, as Cube 4.8 writes them"]; int(n) != len(parts) {
		t.Errorf("%d wrong checksums counted, want %d", n, len(parts))
	}
	if r.Info().Profile == 0 {
		t.Error("nothing is read")
	}
}

// Derived metrics of arithmetic are computed, programs are listed.
func TestDerivedMetrics(t *testing.T) {
	parts := members(t, "testdata/values.cubex")
	derived := `
<metric id="40" type="POSTDERIVED" viztype="GHOST"><uniq_name>per</uniq_name><dtype>DOUBLE</dtype><uom>occ</uom><cubepl>2 * (metric::DOUBLE() + metric::later()) / metric::DOUBLE()</cubepl></metric>
<metric id="41" type="PREDERIVED_EXCLUSIVE"><uniq_name>later</uniq_name><dtype>DOUBLE</dtype><uom>sec</uom><cubepl>metric::DOUBLE() - -1</cubepl></metric>
<metric id="42" type="POSTDERIVED"><uniq_name>program</uniq_name><dtype>DOUBLE</dtype><uom>sec</uom><cubepl>{ ${a} = 1; return ${a}; }</cubepl></metric>
<metric id="43" type="POSTDERIVED"><uniq_name>circle</uniq_name><dtype>DOUBLE</dtype><uom>sec</uom><cubepl>metric::circle() + 1</cubepl></metric>
</metrics>`
	parts[anchorName] = bytes.Replace(parts[anchorName], []byte("</metrics>"), []byte(derived), 1)
	x := tableOf(t, read(t, one(pack(t, parts))))
	for c, r := range x.rows {
		base := x.rows[cell{"DOUBLE", c.node, c.location}]
		later := x.rows[cell{"later", c.node, c.location}]
		switch c.metric {
		case "later":
			if !near(r.Exclusive, base.Exclusive+1e9) {
				t.Errorf("later at %v: exclusive %v, of %v", c, r.Exclusive, base.Exclusive)
			}
		case "per":
			if want := 2 * (base.Inclusive + later.Inclusive) / base.Inclusive; !near(r.Inclusive, want) {
				t.Errorf("per at %v: %v, want %v", c, r.Inclusive, want)
			}
		case "program", "circle":
			t.Errorf("%s has a value", c.metric)
		}
	}
	root := x.rows[cell{"later", 0, 1}]
	if want := x.rows[cell{"later", 0, 1}].Exclusive + x.rows[cell{"later", 1, 1}].Inclusive + x.rows[cell{"later", 2, 1}].Inclusive; !near(root.Inclusive, want) {
		t.Errorf("inclusive %v of the root, want %v", root.Inclusive, want)
	}
	report := importertest.Report(x.r.Info().Report)
	if report["skipped derived metrics that are not evaluated"] != 1 || report["skipped derived metrics that use what is not evaluated"] != 1 {
		t.Errorf("report %v", report)
	}
	for _, m := range x.r.Metrics() {
		if m.Name == "per" && !strings.Contains(m.Description, "hidden") {
			t.Errorf("a hidden metric does not say so: %+v", m)
		}
	}
}

func TestEnumerations(t *testing.T) {
	// a(b(d, e(g)), c(f)) and h(i)
	n := func(children ...*node) *node { return &node{Children: children} }
	g, d, f, i := n(), n(), n(), n()
	e := n(g)
	b, c := n(d, e), n(f)
	a, h := n(b, c), n(i)
	x := newTree([]*node{a, h})
	for k, want := range []*node{a, b, d, e, g, c, f, h, i} {
		if at, ok := x.order(false, uint32(k)); !ok || x.nodes[at] != want {
			t.Errorf("preorder %d is wrong", k)
		}
	}
	for k, want := range []*node{a, b, c, d, e, g, f, h, i} {
		if at, ok := x.order(true, uint32(k)); !ok || x.nodes[at] != want {
			t.Errorf("wide order %d is wrong", k)
		}
	}
	if _, ok := x.order(true, 9); ok {
		t.Error("a number beyond the tree is found")
	}
}
