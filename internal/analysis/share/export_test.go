package share

import "github.com/parallax-hpc/parallax/internal/trace"

// Of is the digest of one stretch.
func Of(s *trace.Stretch) (d Digest) {
	long := Summary{}.Build(nil, s, nil)
	d.head(long)
	d.list(long[longHead:])
	return d
}
