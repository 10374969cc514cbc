package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/store/local"
)

// A key names a block in table parallax_blocks.
type key struct {
	file  uint16
	block uint32
}

const (
	// mostConditions is how many blocks one statement asks for.
	mostConditions = 2000
	// longRun is from how many blocks on those that follow each other are named by the first and the last.
	longRun = 16
	// mostRuns is how many of those a statement has: each is tried for every entry of the index that others leave.
	mostRuns = 8
)

// Fetch implements local.Remote: all servers at once, each for its share.
func (b *blocks) Fetch(ctx context.Context, pieces []local.Piece) error {
	shards := len(b.parts[0].shards)
	of := make([]map[key]local.Piece, shards*len(b.parts)) // by part and share
	for _, p := range pieces {
		f, ok := b.files[p.File]
		if !ok {
			return fmt.Errorf("%s is not in the manifest", p.File)
		}
		n := partOf(p.Block, f.blocks, shards, len(b.parts))*shards + shardOf(p.Block, f.blocks, shards)
		if of[n] == nil {
			of[n] = map[key]local.Piece{}
		}
		of[n][key{uint16(f.number), uint32(p.Block)}] = p
	}
	g, ctx := errgroup.WithContext(ctx)
	for n, want := range of {
		if len(want) == 0 {
			continue
		}
		keys := make([]key, 0, len(want))
		for k := range want {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b key) int {
			if a.file != b.file {
				return int(a.file) - int(b.file)
			}
			return int(int64(a.block) - int64(b.block))
		})
		id, s := b.parts[n/shards].id, b.parts[n/shards].shards[n%shards]
		for some := range slices.Chunk(keys, mostConditions) {
			g.Go(func() error { return s.fetch(ctx, id, some, want) })
		}
	}
	return g.Wait()
}

// fetch fills blocks of a run, given in order.
func (s *server) fetch(ctx context.Context, run uint64, keys []key, want map[key]local.Piece) error {
	rows,
		err := s.Query(ctx,
		fmt.Sprintf("select file, block, %s from parallax_blocks where run = %d and (%s)", dataOf(keys, want), run,
			conditionOf(keys)))
	if err != nil {
		return s.failed(err)
	}
	defer rows.Close()
	got := 0
	var k key
	var data blockOf
	for rows.Next() {
		if err := rows.Scan(&k.file, &k.block, &data); err != nil {
			return s.failed(err)
		}
		p, ok := want[k]
		if !ok || len(data) < len(p.Into) {
			return fmt.Errorf("%s: block %d of file %d is not as it was written: %w", s.host, k.block, k.file,
				local.ErrDamaged)
		}
		copy(p.Into, data)
		got++
	}
	if err := rows.Err(); err != nil {
		return s.failed(err)
	}
	if got != len(keys) {
		return fmt.Errorf("%s gave %d of %d blocks: %w", s.host, got, len(keys), local.ErrDamaged)
	}
	return nil
}

// A blockOf is the content of a row, in memory of the client that stays valid until the next row.
type blockOf []byte

// UnmarshalBinary implements encoding.BinaryUnmarshaler, for which the client makes no copy.
func (b *blockOf) UnmarshalBinary(data []byte) error {
	*b = data
	return nil
}

// dataOf returns the column that is asked for. Strings of one length come into memory that is allocated once, others
// into memory that grows with each. So if most blocks are whole, all are padded to one length, and the waiting piece
// cuts the padding off.
func dataOf(keys []key, want map[key]local.Piece) string {
	most, sum := 0, 0
	for _, k := range keys {
		n := len(want[k].Into)
		most, sum = max(most, n), sum+n
	}
	if sum < most*len(keys)*3/4 {
		return "data"
	}
	return fmt.Sprintf("toFixedString(data, %d)", most)
}

// conditionOf names blocks by file. A list of numbers is read and searched several times as fast as one of pairs, and
// one condition a block would take a hundred times as long.
func conditionOf(keys []key) string {
	var where strings.Builder
	runs := 0
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].file == keys[0].file {
			n++
		}
		file := keys[:n]
		keys = keys[n:]
		var terms, list []string
		for at := 0; at < len(file); {
			end := at + 1
			for end < len(file) && file[end].block == file[at].block+uint32(end-at) {
				end++
			}
			if end-at >= longRun && runs < mostRuns {
				runs++
				terms = append(terms, fmt.Sprintf("block between %d and %d", file[at].block, file[end-1].block))
			} else {
				for _, k := range file[at:end] {
					list = append(list, strconv.FormatUint(uint64(k.block), 10))
				}
			}
			at = end
		}
		if len(list) > 0 {
			terms = append(terms, "block in ("+strings.Join(list, ",")+")")
		}
		if where.Len() > 0 {
			where.WriteString(" or ")
		}
		fmt.Fprintf(&where, "file = %d and (%s)", file[0].file, strings.Join(terms, " or "))
	}
	return where.String()
}
