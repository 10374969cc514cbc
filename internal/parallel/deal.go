package parallel

import "context"

// Deal passes values from parts to shards on all cores. Give hands out the values of one part, in its order; take gets
// those of one shard, part after part. So each shard gets its values in the order in which one core would pass them.
func Deal[T any](parts, shards int, give func(part int, to func(shard int, x T)), take func(shard int, x T)) {
	if parts == 1 && shards == 1 {
		give(0, take)
		return
	}
	dealt := make([][][]T, parts)
	_ = For(context.Background(), parts, func(i int) {
		lists := make([][]T, shards)
		give(i, func(shard int, x T) { lists[shard] = append(lists[shard], x) })
		dealt[i] = lists
	})
	_ = For(context.Background(), shards, func(shard int) {
		for _, lists := range dealt {
			for _, x := range lists[shard] {
				take(shard, x)
			}
		}
	})
}
