package server

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A compressor packs answers: zstd where the client takes it, else gzip, both at
// their fastest setting.
type compressor struct {
	zstd *zstd.Encoder // EncodeAll may be called from many goroutines
	gzip sync.Pool
}

func newCompressor() *compressor {
	z,
		err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return &compressor{zstd: z, gzip: sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		return w
	}}}
}

func (c *compressor) close() { c.zstd.Close() }

// compress packs body as the client accepts, or gives no encoding where it takes
// neither or packing gains nothing.
func (c *compressor) compress(body []byte, accept string) (packed []byte, encoding string) {
	switch {
	case accepts(accept, "zstd"):
		packed, encoding = c.zstd.EncodeAll(body, make([]byte, 0, len(body)/3)), "zstd"
	case accepts(accept, "gzip"):
		packed, encoding = c.gunzippable(body), "gzip"
	}
	if len(packed) >= len(body) {
		return nil, ""
	}
	return packed, encoding
}

func (c *compressor) gunzippable(body []byte) []byte {
	var b bytes.Buffer
	w := c.gzip.Get().(*gzip.Writer)
	defer c.gzip.Put(w)
	w.Reset(&b)
	w.Write(body)
	w.Close()
	return b.Bytes()
}

// A packer writes an answer that comes in parts, compressed or as it is.
type packer interface {
	io.WriteCloser
	Flush() error
}

type plainPacker struct{ io.Writer }

func (plainPacker) Flush() error { return nil }
func (plainPacker) Close() error { return nil }

// newPacker compresses the answer as the client accepts, and says so in the header.
func newPacker(w http.ResponseWriter, accept string) packer {
	switch {
	case accepts(accept, "zstd"):
		w.Header().Set("Content-Encoding", "zstd")
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return z
	case accepts(accept, "gzip"):
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		return z
	}
	return plainPacker{w}
}

// accepts reads an Accept-Encoding header: the name is listed, and not with q=0.
func accepts(header, name string) bool {
	for part := range strings.SplitSeq(header, ",") {
		token, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(token), name) {
			continue
		}
		q, has := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !has || err != nil || weight > 0
	}
	return false
}
