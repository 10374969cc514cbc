package perfetto

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// A bundle unpacks packets that are compressed together, one bundle after the
// other; the unpacker's state is kept for the next.
type bundle struct {
	from bytes.Reader
	zlib io.ReadCloser
	zstd *zstd.Decoder
}

// largestWindow bounds the memory that a packed bundle may ask for.
const largestWindow = 16 << 20

func (b *bundle) open(p *packet) (io.Reader, error) {
	b.from.Reset(p.payload)
	if p.kind == packetZstdCompressed {
		if b.zstd == nil {
			d,
				err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(largestWindow))
			if err != nil {
				return nil, err
			}
			b.zstd = d
		}
		return b.zstd, b.zstd.Reset(&b.from)
	}
	if b.zlib == nil {
		z, err := zlib.NewReader(&b.from)
		b.zlib = z
		return z, err
	}
	return b.zlib, b.zlib.(zlib.Resetter).Reset(&b.from, nil)
}

// close releases the unpacker.
func (b *bundle) close() {
	if b.zstd != nil {
		b.zstd.Close()
	}
}
