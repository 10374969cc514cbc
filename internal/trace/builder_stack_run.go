package trace

// A StackRecord is an Enter or a Leave.
type StackRecord struct {
	Time   Time
	Region RegionID
	Leave  bool
}

// Run takes records in order, as Enter and Leave would one by one. Correct records, nearly all, are handled here with
// the state in local variables; the rest is left to those two.
func (b *StackBuilder) Run(records []StackRecord) {
	for len(records) > 0 {
		if n := b.plain(records); n > 0 {
			records = records[n:]
			continue
		}
		if r := records[0]; r.Leave {
			b.Leave(r.Time, r.Region)
		} else {
			b.Enter(r.Time, r.Region)
		}
		records = records[1:]
	}
}

// plain takes records until one that needs more than a row that is begun or ended, and
// gives how many.
func (b *StackBuilder) plain(records []StackRecord) int {
	if b.counted || b.beyond > 0 {
		return 0
	}
	c := b.out
	begin := c.Begin
	duration, exclusive, region := c.Duration[:len(begin)], c.Exclusive[:len(begin)], c.Region[:len(begin)]
	parent, depth := c.Parent[:len(begin)], c.Depth[:len(begin)]
	stack, last, row, deepest := b.stack, b.last, c.N, b.depth
	k := 0
	for ; k < len(records); k++ {
		r := &records[k]
		n := len(stack)
		if r.Time < last {
			break
		}
		if r.Leave {
			if n == 0 || stack[n-1].region != r.Region {
				break
			}
			f := &stack[n-1]
			i, d := f.row-c.First, r.Time-f.begin
			if uint64(i) >= uint64(len(duration)) { // it is written already
				break
			}
			duration[i], exclusive[i] = d, d-f.children
			stack = stack[:n-1]
			if n > 1 {
				stack[n-2].children += d
			}
			last = r.Time
			b.end = max(b.end, last)
			continue
		}
		if row >= len(begin) || n >= maxDepth {
			break
		}
		up := int32(-1)
		if n > 0 {
			up = int32(stack[n-1].row - b.first)
		}
		begin[row], region[row], parent[row], depth[row] = r.Time, r.Region, up, uint16(n)
		deepest = max(deepest, n+1)
		last = r.Time
		stack = append(stack, stackFrame{begin: r.Time, row: c.First + int64(row), region: r.Region})
		row++
	}
	b.stack, b.last, c.N, b.depth = stack, last, row, deepest
	return k
}
