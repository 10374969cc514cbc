package write

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Chrome is the trace event format: one JSON file that Chrome, Perfetto and Speedscope open. It uses gzip if the
// name ends in .gz.
//
//	process                    pid: its rank
//	thread, stream             tid: its key where that is a number
//	Enter, Leave               B, E
//	Interval                   X
//	instant                    i, of the thread
//	counter                    C
//	link                       s and f, bound to the enclosing slice
//	attributes                 args
//	machine, grid coordinates  process_labels
//	GPUs and their memory      deviceProperties and [memory], as PyTorch's profiler writes them
//
// The stream of records is cut into chunks. Chunks are formatted on all cores and
// written in the order in which they were cut.
var Chrome = &Format{
	Name:       "chrome",
	Title:      "Chrome trace events, one JSON file",
	Sequential: true,
	Create:     createChrome,
}

const chunkRecords = 4096

type chrome struct {
	*definitions
	pending pending
	file    *os.File
	gzip    *gzip.Writer // nil: not packed

	cutting     sync.Mutex // guards the fields below, and the order of chunks
	rows        map[trace.LocationID]*chromeRow
	used        map[[2]int64]bool // (pid, tid) that are taken
	known       map[int64]bool    // pids whose metadata is written
	coordinates map[trace.LocationID]string
	links       *chunk
	linkID      int64
	order       chan *chunk
	jobs        chan *chunk
	pool        sync.Pool
	finished    sync.WaitGroup
}

// A chromeRow is a location as the format names it.
type chromeRow struct {
	pid, tid int64
	json     []byte // "pid":1,"tid":2
}

func createChrome(path string) (File, error) {
	p, err := newPending(path, false)
	if err != nil {
		return nil, err
	}
	f, err := os.Create(p.temporary)
	if err != nil {
		return nil, err
	}
	workers := parallel.Workers()
	c := &chrome{
		definitions: newDefinitions("chrome", func(c string) string { return c }), pending: p, file: f,
		rows: map[trace.LocationID]*chromeRow{}, used: map[[2]int64]bool{}, known: map[int64]bool{},
		order: make(chan *chunk, 4*workers), jobs: make(chan *chunk, 4*workers),
	}
	if strings.HasSuffix(path, ".gz") {
		c.gzip, _ = gzip.NewWriterLevel(f, gzip.BestSpeed)
	}
	c.pool.New = func() any { return &chunk{done: make(chan struct{}, 1)} }
	c.finished.Add(workers + 1)
	for range workers {
		go c.format()
	}
	go c.write()
	return c, nil
}

func (c *chrome) format() {
	defer c.finished.Done()
	for k := range c.jobs {
		k.format(c)
		k.done <- struct{}{}
	}
}

// write puts the chunks out in order. After an error it goes on taking them, so that no sender waits for ever.
func (c *chrome) write() {
	defer c.finished.Done()
	for k := range c.order {
		<-k.done
		if c.failed() == nil {
			c.fail(c.put(k.out))
		}
		k.reset()
		c.pool.Put(k)
	}
}

func (c *chrome) put(b []byte) (err error) {
	if c.gzip != nil {
		_, err = c.gzip.Write(b)
	} else {
		_, err = c.file.Write(b)
	}
	return err
}

// cut passes on a chunk; the caller forgets it.
func (c *chrome) cut(k *chunk) {
	c.cutting.Lock()
	defer c.cutting.Unlock()
	c.cutLocked(k)
}

func (c *chrome) cutLocked(k *chunk) {
	c.order <- k
	c.jobs <- k
}

func (c *chrome) Stream(id trace.LocationID, _ trace.StreamOptions) trace.Stream {
	c.cutting.Lock()
	defer c.cutting.Unlock()
	s := &chromeStream{c: c, row: c.row(id), tables: lookup{d: c.definitions}, chunk: c.pool.Get().(*chunk)}
	s.chunk.row = s.row
	return s
}

// row finds the row of a location. A new one is announced by a chunk of metadata,
// the first of which also begins the file.
func (c *chrome) row(id trace.LocationID) *chromeRow {
	row, known := c.rows[id]
	if !known {
		c.mu.RLock()
		row = c.addRow(id)
		k := c.pool.Get().(*chunk)
		k.out = c.appendMetadata(k.out, id, row)
		c.mu.RUnlock()
		c.cutLocked(k)
	}
	return row
}

// addRow chooses pid and tid of a location.
func (c *chrome) addRow(id trace.LocationID) *chromeRow {
	pid := int64(c.rank(id))
	if process := c.above(id, trace.KindProcess); pid < 0 && process != trace.NoLocation {
		pid = 1_000_000 + int64(process)
	} else if pid < 0 {
		pid = 1_000_000 + int64(id)
	}
	tid, ok := c.number(id)
	if !ok || c.locations[id].Kind == trace.KindProcess {
		tid = 0
	}
	for c.used[[2]int64{pid, tid}] {
		tid++
	}
	c.used[[2]int64{pid, tid}] = true
	row := &chromeRow{pid, tid, fmt.Appendf(nil, `"pid":%d,"tid":%d`, pid, tid)}
	c.rows[id] = row
	return row
}

// appendMetadata writes the names of a row and, once, of its process.
func (c *chrome) appendMetadata(b []byte, id trace.LocationID, row *chromeRow) []byte {
	if len(c.known) == 0 {
		b = c.appendHeader(b)
	} else {
		b = append(b, ",\n"...)
	}
	process := c.above(id, trace.KindProcess)
	if process == trace.NoLocation {
		process = id
	}
	if !c.known[row.pid] {
		c.known[row.pid] = true
		b = fmt.Appendf(b, `{"ph":"M","name":"process_name","pid":%d,"args":{"name":`, row.pid)
		b = append(appendText(b, c.locations[process].Name), "}},\n"...)
		if labels := c.labels(process); labels != "" {
			b = fmt.Appendf(b, `{"ph":"M","name":"process_labels","pid":%d,"args":{"labels":`, row.pid)
			b = append(appendText(b, labels), "}},\n"...)
		}
		b = fmt.Appendf(b, `{"ph":"M","name":"process_sort_index","pid":%d,"args":{"sort_index":%d}},`+"\n", row.pid,
			row.pid)
	}
	b = append(append(append(b, `{"ph":"M","name":"thread_name",`...), row.json...), `,"args":{"name":`...)
	b = append(appendText(b, c.rowName(id, process)), "}},\n"...)
	b = append(append(append(b, `{"ph":"M","name":"thread_sort_index",`...), row.json...), `,"args":{"sort_index":`...)
	return fmt.Appendf(b, `%d}}`, row.tid)
}

func (c *chrome) appendHeader(b []byte) []byte {
	b = append(b, `{"displayTimeUnit":"ns","otherData":{`...)
	for i, p := range c.properties {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(appendText(b, p[0]), ':'), p[1])
	}
	b = append(b, '}')
	if n := c.devices(); n > 0 {
		b = append(appendDevices(append(b, `,"deviceProperties":[`+"\n"...), n), "\n]"...)
	}
	return append(b, `,"traceEvents":[`+"\n"...)
}

// rowName is the path of a row below its process.
func (c *chrome) rowName(id, process trace.LocationID) string {
	if id == process {
		return "main"
	}
	name := c.locations[id].Name
	for up := c.locations[id].Parent; up != process && up != trace.NoLocation; up = c.locations[up].Parent {
		name = c.locations[up].Name + " " + name
	}
	return name
}

// labels hold facts that the format has no place for: the machine of the process, and its place on a grid.
func (c *chrome) labels(process trace.LocationID) string {
	var labels []string
	for up := c.locations[process].Parent; up != trace.NoLocation; up = c.locations[up].Parent {
		labels = append([]string{c.locations[up].Name}, labels...)
	}
	if c.coordinates == nil {
		c.coordinates = map[trace.LocationID]string{}
		for _, t := range c.topologies {
			for _, at := range t.Coordinates {
				c.coordinates[at.Location] = fmt.Sprintf("%s %v", t.Name, at.At)
			}
		}
	}
	if at := c.coordinates[process]; at != "" {
		labels = append(labels, at)
	}
	return strings.Join(labels, ", ")
}

func (c *chrome) Commit() error {
	c.close()
	if err := c.failed(); err != nil {
		c.pending.abort()
		return err
	}
	if err := c.pending.commit(); err != nil {
		c.pending.abort()
		return err
	}
	return nil
}

func (c *chrome) Abort() {
	c.close()
	c.pending.abort()
}

// close writes the rest and waits for the writers.
func (c *chrome) close() {
	end := c.pool.Get().(*chunk)
	if len(c.known) == 0 {
		end.out = c.appendHeader(end.out)
	}
	end.tail = "\n]}\n"
	if c.links != nil {
		c.cut(c.links)
		c.links = nil
	}
	c.cut(end)
	close(c.order)
	close(c.jobs)
	c.finished.Wait()
	if c.gzip != nil {
		c.fail(c.gzip.Close())
	}
	c.fail(c.file.Close())
}
