package warehouse

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/parallax-hpc/parallax/internal/lake"
	store "github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/table"
)

// A Place is the tables of one database.
type Place struct {
	layout
	servers []store.Server
	name    string
	close   func() error
}

// Open connects to the servers of an address. Options of the address: cluster=NAME stores replicated tables on a
// cluster of the servers' configuration, keep=180d removes rows of that age; sums of runs stay.
func Open(ctx context.Context, a *store.Address) (*Place, error) {
	l, err := layoutOf(a)
	if err != nil {
		return nil, err
	}
	servers, closeAll, err := store.Connect(ctx, a, need)
	if err != nil {
		return nil, err
	}
	return &Place{layout: l, servers: servers, name: a.String(), close: closeAll}, nil
}

// On returns the place of one server that is connected already.
func On(s store.Server) *Place {
	return &Place{servers: []store.Server{s}, name: s.Host(), close: func() error { return nil }}
}

func layoutOf(a *store.Address) (l layout, err error) {
	l.cluster = a.Options.Get("cluster")
	if strings.ContainsAny(l.cluster, "'\\") {
		return l, fmt.Errorf("?cluster=%s: no cluster has such a name", l.cluster)
	}
	if len(a.Hosts) > 1 && l.cluster == "" {
		return l, errors.New("several servers hold a lake as a cluster: name it with ?cluster=NAME, as their " +
			"configuration (remote_servers) does")
	}
	if keep := a.Options.Get("keep"); keep != "" {
		days, found := strings.CutSuffix(keep, "d")
		if l.keep, err = strconv.Atoi(days); err != nil || !found || l.keep < 1 {
			return l, fmt.Errorf("?keep=%s: want a number of days, such as keep=180d", keep)
		}
	}
	return l, nil
}

// Close ends the connections.
func (p *Place) Close() error { return p.close() }

// states of a run, as the table has them.
const (
	loading = "loading"
	whole   = "whole"
	gone    = "gone"
)

// batchRows is how many rows go to a server in one insert. Batches are cut by this alone, so that one that is sent
// again has the same rows.
const batchRows = 1 << 18

// Append writes a run, as lake.Append does. It is visible when all rows are there; after an error it is not.
func (p *Place) Append(ctx context.Context, r *table.Run, a lake.About) (*lake.About, error) {
	lake.Complete(&a, r)
	if err := p.make(ctx); err != nil {
		return nil, err
	}
	if err := p.sweep(ctx); err != nil {
		return nil, err
	}
	if err := p.settle(ctx, &a); err != nil {
		return nil, err
	}
	w := &writer{Place: p, about: &a}
	if err := binary.Read(rand.Reader, binary.LittleEndian, &w.id); err != nil {
		return nil, err
	}
	if err := w.state(ctx, loading); err != nil {
		return nil, err
	}
	for _, t := range lake.Tables {
		if err := w.table(ctx, t, lake.Rows(ctx, r, t, &a)); err != nil {
			w.undo()
			return nil, fmt.Errorf("write %s to %s: %w", t.Name, p.name, err)
		}
	}
	if err := w.outline(ctx); err != nil {
		w.undo()
		return nil, err
	}
	return &a, w.state(ctx, whole)
}

// outline writes the outline of the run to every server, as its state.
func (w *writer) outline(ctx context.Context) error {
	if w.about.Outline == nil {
		return nil
	}
	for _, s := range w.servers {
		b, err := s.PrepareBatch(ctx, "insert into "+outlineTable+" (run_id, outline)")
		if err == nil {
			err = b.Append(w.id, w.about.Outline)
		}
		if err == nil {
			err = b.Send()
		}
		if err != nil {
			return s.Failed(err)
		}
	}
	return nil
}

// Runs returns the whole runs with their outlines, by their start.
func (p *Place) Runs(ctx context.Context) (out []lake.About, err error) {
	rows, err := p.servers[0].Query(ctx, "select r.project, r.run, toUnixTimestamp64Micro(r.run_start), r.clock, "+
		"r.keys, o.outline from "+stateTable+" as r final left join (select distinct run_id, outline from "+
		outlineTable+") as o on o.run_id = r.run_id where r.state = 'whole' order by r.run_start, r.run")
	if err != nil {
		return nil, p.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var a lake.About
		var outline string
		if err := rows.Scan(&a.Project, &a.Run, &a.Start, &a.Clock, &a.Keys, &outline); err != nil {
			return nil, err
		}
		if outline != "" {
			a.Outline = []byte(outline)
		}
		out = append(out, a)
	}
	return out, rows.Err()
}

// make makes the tables that are not there. On a cluster one server tells the others.
func (p *Place) make(ctx context.Context) error {
	others, err := p.without(ctx, "run_id")
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fmt.Errorf("%s: tables of this database are not those of a lake (%s); name another database",
			p.servers[0].Host(), strings.Join(others, ", "))
	}
	old, err := p.without(ctx, "month") // an older version made them
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := p.servers[0].Exec(ctx, p.complete(name)); err != nil {
			return p.servers[0].Failed(err)
		}
	}
	for _, text := range p.statements() {
		if err := p.servers[0].Exec(ctx, text); err != nil {
			return p.servers[0].Failed(err)
		}
	}
	return nil
}

// without returns the tables of a lake that are there and have no column of that name.
func (p *Place) without(ctx context.Context, column string) (out []string, err error) {
	var names []string
	if column == "run_id" {
		names = append(names, "'"+stateTable+"'", "'"+outlineTable+"'")
	}
	for _, t := range lake.Tables {
		names = append(names, "'"+t.Name+"_rows'", "'"+t.Name+"_all'")
	}
	rows, err := p.servers[0].Query(ctx,
		"select name from system.tables where database = currentDatabase() and name in ("+
			strings.Join(names, ", ")+") and name not in (select table from system.columns where database = "+
			"currentDatabase() and name = '"+column+"') order by name")
	if err != nil {
		return nil, p.servers[0].Failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// settle finds a name that no whole run has.
func (p *Place) settle(ctx context.Context, a *lake.About) error {
	name := a.Run
	for _, try := range []string{name, a.Dated()} {
		ids, err := p.ids(ctx, try)
		if err != nil {
			return err
		}
		if a.Run = try; len(ids) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s has the run %s already (%s); give it another name with --as", p.name, name, a.Run)
}

// ids returns the numbers of the whole runs of a name.
func (p *Place) ids(ctx context.Context, name string) (out []uint64, err error) {
	rows, err := p.servers[0].Query(ctx,
		"select run_id from "+stateTable+" final where state = 'whole' and run = ?", name)
	if err != nil {
		return nil, p.servers[0].Failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id uint64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}

// A writer writes one run.
type writer struct {
	*Place
	about *lake.About
	id    uint64
	said  time.Time // when the state was written
}

// state writes the state of the run to every server, so that each knows which of its rows count.
func (w *writer) state(ctx context.Context, state string) error {
	w.said = time.Now()
	for _, s := range w.servers {
		b, err := s.PrepareBatch(ctx, "insert into "+stateTable+
			" (run_id, project, run, run_start, clock, keys, state, changed)")
		if err == nil {
			err = b.Append(w.id, w.about.Project, w.about.Run, time.UnixMicro(w.about.Start).UTC(), w.about.Clock,
				w.about.Keys, state, uint64(time.Now().UnixNano()))
		}
		if err == nil {
			err = b.Send()
		}
		if err != nil {
			return s.Failed(err)
		}
	}
	return nil
}

// table writes the rows of a table, a batch to each server in turn.
func (w *writer) table(ctx context.Context, t *table.Table, rows func(func(*table.Batch) error) error) error {
	i := &insert{writer: w, of: t, ctx: ctx}
	if err := rows(i.add); err != nil {
		return err
	}
	return i.send()
}

// An insert collects the rows of a table.
type insert struct {
	*writer
	of      *table.Table
	ctx     context.Context
	waiting []*table.Batch
	rows    int
	sent    int
}

// add takes rows, and sends them when there are enough.
func (i *insert) add(b *table.Batch) error {
	if b.Rows == 0 {
		return nil
	}
	i.waiting = append(i.waiting, b)
	if i.rows += b.Rows; i.rows < batchRows {
		return nil
	}
	return i.send()
}

func (i *insert) send() error {
	if i.rows == 0 {
		return nil
	}
	if time.Since(i.said) > stillLoading {
		if err := i.state(i.ctx, loading); err != nil {
			return err
		}
	}
	s := i.servers[i.sent%len(i.servers)]
	token := fmt.Sprintf("%x-%s-%d", i.id, i.of.Name, i.sent)
	ctx := clickhouse.Context(i.ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token}))
	err := i.try(ctx, s)
	var refused *clickhouse.Exception
	if err != nil && !errors.As(err, &refused) && i.ctx.Err() == nil { // the connection broke: once more, counted once
		err = i.try(ctx, s)
	}
	i.waiting, i.rows = nil, 0
	i.sent++
	return s.Failed(err)
}

func (i *insert) try(ctx context.Context, s store.Server) error {
	names := []string{"run_id", "project", "run", "run_start"}
	for _, k := range runKeys {
		names = append(names, "`"+keyColumn(i.of, k)+"`")
	}
	for _, c := range i.of.Columns {
		names = append(names, "`"+c.Name+"`")
	}
	b, err := s.PrepareBatch(ctx, "insert into "+i.of.Name+"_rows ("+strings.Join(names, ", ")+")")
	if err != nil {
		return err
	}
	for _, rows := range i.waiting {
		if err := i.append(b, rows); err != nil {
			_ = b.Abort()
			return err
		}
	}
	return b.Send()
}

// append adds rows to an insert, column by column.
func (i *insert) append(b driver.Batch, rows *table.Batch) error {
	n := rows.Rows
	values := []any{repeated(i.id, n), repeated(i.about.Project, n), repeated(i.about.Run, n),
		repeated(time.UnixMicro(i.about.Start).UTC(), n)}
	for _, k := range runKeys {
		values = append(values, repeated(i.about.Keys[k], n))
	}
	for c := range rows.Columns {
		values = append(values, valuesOf(&rows.Columns[c], &i.of.Columns[c], n))
	}
	for c, v := range values {
		if err := b.Column(c).Append(v); err != nil {
			return err
		}
	}
	return nil
}

func repeated[T any](v T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// valuesOf returns a column as the client takes it.
func valuesOf(v *table.Vector, c *table.Column, n int) any {
	switch {
	case c.Kind == table.Text && c.Null:
		out := make([]any, n)
		for i := range out {
			out[i] = v.Value(i)
		}
		return out
	case c.Kind == table.Text:
		return v.Texts
	case c.Kind == table.Number && c.Null:
		return pointers(v.Numbers, v)
	case c.Kind == table.Number:
		return v.Numbers
	case c.Kind == table.Flag:
		flags := make([]uint8, len(v.Integers))
		for i, x := range v.Integers {
			flags[i] = uint8(x)
		}
		if c.Null {
			return pointers(flags, v)
		}
		return flags
	case c.Null:
		return pointers(v.Integers, v)
	}
	return v.Integers
}

// pointers are nil where a value is null.
func pointers[T any](values []T, v *table.Vector) []*T {
	out := make([]*T, len(values))
	for i := range values {
		if !v.IsNull(i) {
			out[i] = &values[i]
		}
	}
	return out
}

// An export says at least every stillLoading that it goes on. One that has said nothing for abandoned was killed.
const (
	stillLoading = time.Hour
	abandoned    = 24 * time.Hour
)

// sweep removes the rows of exports that were killed.
func (p *Place) sweep(ctx context.Context) error {
	rows, err := p.servers[0].Query(ctx, "select run_id, project, run from "+stateTable+
		" final where state = 'loading' and changed < ?", uint64(time.Now().Add(-abandoned).UnixNano()))
	if err != nil {
		return p.servers[0].Failed(err)
	}
	defer rows.Close()
	var killed []*writer
	for rows.Next() {
		w := &writer{Place: p, about: &lake.About{}}
		if err := rows.Scan(&w.id, &w.about.Project, &w.about.Run); err != nil {
			return err
		}
		killed = append(killed, w)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, w := range killed {
		if err := w.takeAway(ctx); err != nil {
			return err
		}
	}
	return nil
}

// takeAway takes the run out of sight, and then its rows.
func (w *writer) takeAway(ctx context.Context) error {
	if err := w.state(ctx, gone); err != nil {
		return err
	}
	return w.remove(ctx, w.id)
}

// undo takes the rows of a run away that was not finished, if servers still answer. They were never visible.
func (w *writer) undo() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = w.takeAway(ctx) // else the next export does, a day later
}

// remove deletes the rows of a run.
func (p *Place) remove(ctx context.Context, id uint64) error {
	names := []string{outlineTable}
	for _, t := range lake.Tables {
		names = append(names, t.Name+"_rows")
	}
	for _, name := range names {
		for _, s := range p.servers {
			if err := s.Exec(ctx,
				fmt.Sprintf("delete from %s%s where run_id = %d", name, p.on(), id)); err != nil {
				return s.Failed(err)
			}
			if p.cluster != "" {
				break // it makes them on the others
			}
		}
	}
	return nil
}

// Remove removes the run of an address.
func Remove(ctx context.Context, a *store.Address) error {
	p, err := Open(ctx, a)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Remove(ctx, a.Run)
}

// Remove takes a run out of sight at once, and then its rows.
func (p *Place) Remove(ctx context.Context, name string) error {
	ids, err := p.ids(ctx, name)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return fmt.Errorf("%s has no run %q; `parallax query %s 'select run from runs'` lists them", p.name, name,
			p.name)
	}
	for _, id := range ids {
		w := &writer{Place: p, id: id, about: &lake.About{Run: name}}
		if err := w.takeAway(ctx); err != nil {
			return err
		}
	}
	return nil
}
