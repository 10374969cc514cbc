package parallel

import "context"

// Deal passes values from parts to shards on all cores. Give hands out the values of one part, in its order; take gets
// those of one shard, part after part. So each shard gets its values in the order in which one core would pass them.
// The values of some parts are held at a time: give must not read what take writes.
func Deal[T any](parts, shards int, give func(part int, to func(shard int, x T)), take func(shard int, x T)) {
	if parts == 1 && shards == 1 {
		give(0, take)
		return
	}
	atOnce := min(parts, dealtAtOnce*Workers())
	dealt := make([][][]T, atOnce)
	for i := range dealt {
		dealt[i] = make([][]T, shards)
	}
	for first := 0; first < parts; first += atOnce {
		some := dealt[:min(atOnce, parts-first)]
		_ = For(context.Background(), len(some), func(i int) {
			lists := some[i]
			for shard := range lists {
				lists[shard] = lists[shard][:0]
			}
			give(first+i, func(shard int, x T) { lists[shard] = append(lists[shard], x) })
		})
		_ = For(context.Background(), shards, func(shard int) {
			for _, lists := range some {
				for _, x := range lists[shard] {
					take(shard, x)
				}
			}
		})
	}
}

// dealtAtOnce is for how many parts each core holds values at a time.
const dealtAtOnce = 4
