package replay

import (
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Find compares the replays of the graphs that a part of a run launches.
func Find(p *runfacts.GPUPart) ([]Graph, error) {
	calls, err := findLaunches(p.Of(false))
	if err != nil || len(calls) == 0 {
		return nil, err
	}
	number := 0
	launches := map[store.Row]int{} // of each piece
	err = p.Launches(func(from, to store.Row, _ trace.Time) {
		n, ok := calls[from]
		if !ok {
			return
		}
		if n == 0 {
			number++
			n = number
			calls[from] = n
		}
		launches[to] = n
	})
	if err != nil || len(launches) == 0 {
		return nil, err
	}
	list, err := readPieces(p, launches)
	if err != nil {
		return nil, err
	}
	return Compare(list), nil
}

// findLaunches finds the calls of hosts that start graphs.
func findLaunches(hosts *runfacts.GPUPart) (map[store.Row]int, error) {
	launch := make([]bool, len(hosts.Regions))
	any := false
	for i := range launch {
		launch[i] = IsLaunch(&hosts.Regions[i])
		any = any || launch[i]
	}
	if !any {
		return nil, nil
	}
	calls := map[store.Row]int{}
	var mu sync.Mutex
	return calls, hosts.Intervals(func(c *trace.Columns) error {
		for i, id := range c.Region {
			if launch[id] {
				mu.Lock()
				calls[store.Row{Location: c.Location, Lane: c.Lane, Row: c.First + i}] = 0
				mu.Unlock()
			}
		}
		return nil
	})
}

// readPieces reads the work that graphs started.
func readPieces(p *runfacts.GPUPart, launches map[store.Row]int) ([]Piece, error) {
	var list []Piece
	at := map[store.Row]int{}
	var mu sync.Mutex
	err := p.Of(true).Intervals(func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, id := range c.Region {
			k := store.Row{Location: c.Location, Lane: c.Lane, Row: c.First + i}
			if n, ok := launches[k]; ok {
				at[k] = len(list)
				list = append(list, Piece{Launch: n, GPU: p.GPU[c.Location], Begin: c.Begin[i],
					End: max(c.End(i), c.Begin[i]), Region: id, Graph: -1, Node: -1})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for name, put := range map[string]func(*Piece, int64){
		"graph id":      func(p *Piece, v int64) { p.Graph = v },
		"graph node id": func(p *Piece, v int64) { p.Node = v },
	} {
		err := p.Attribute(name, func(c *store.AttributeColumns) {
			mu.Lock()
			defer mu.Unlock()
			for i, row := range c.Row {
				if n, ok := at[store.Row{Location: c.Location, Lane: c.Lane, Row: int(row)}]; ok {
					if v, is := c.Value[i].Integer(); is && v > 0 {
						put(&list[n], v)
					}
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
