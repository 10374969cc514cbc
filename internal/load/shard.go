package load

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Shard is one of several imports that make a run together. If one import makes the whole run, Of is 0.
type Shard struct{ Part, Of int }

// mostShards is more than a file system likes to have in a directory.
const mostShards = 1 << 14

// ParseShard reads "K/N", K from 1 to N.
func ParseShard(s string) (p Shard, err error) {
	if s == "" {
		return p, nil
	}
	k, n, ok := strings.Cut(s, "/")
	p.Part, err = strconv.Atoi(k)
	if err == nil {
		p.Of, err = strconv.Atoi(n)
	}
	if !ok || err != nil || p.Part < 1 || p.Part > p.Of || p.Of > mostShards {
		return Shard{}, usage("--shard %s: want K/N, such as 1/4 to 4/4", s)
	}
	return p, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Part, s.Of) }

// WritePart imports one part of a run into a directory.
func (l *Loader) WritePart(ctx context.Context, f Found, path string, s Shard) error {
	return l.write(ctx, f, path, s)
}

// JoinParts makes a store of the parts in a directory. Those that are still to come are a local.MissingParts.
func (l *Loader) JoinParts(ctx context.Context, dir string) error {
	if err := local.Join(ctx, dir, l.storeOptions()); err != nil {
		return err
	}
	l.prepare(ctx, dir)
	return nil
}

func (l *Loader) storeOptions() local.Options {
	o := local.Options{Memory: l.Memory, Summaries: l.Summaries, Digests: l.Digests, Align: cmp.Or(l.Align, "auto"),
		Infer: true}
	if !l.RawNames {
		o.RegionName = trace.FoldName
	}
	return o
}
