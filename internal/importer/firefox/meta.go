package firefox

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
)

// A meta is the metadata of a profile.
type meta struct {
	start      float64 // ms since 1970
	interval   float64 // ms
	product    string
	categories []string
	// interned are members of markers that are numbers of strings, by the type of marker.
	interned map[string]map[string]bool
	cpuUnit  string // of threadCPUDelta
	bytes    bool   // "time" is a place in a file
	version  int64
	facts    [][2]string
}

func (m *meta) read(c *jsonstream.Cursor) {
	for ok := c.Open('{'); ok && c.More('}'); {
		switch name := c.Name(); name {
		case "startTime":
			m.start = number(c)
		case "interval":
			m.interval = number(c)
		case "version", "preprocessedProfileVersion":
			v, _ := c.Whole()
			m.version = max(m.version, v)
		case "product", "oscpu", "platform", "CPUName", "appBuildID", "importedFrom", "arguments", "misc":
			v := c.Scalar().String()
			if name == "product" {
				m.product = v
			}
			if v != "" {
				m.facts = append(m.facts, [2]string{name, v})
			}
		case "categories":
			m.readCategories(c)
		case "markerSchema":
			m.readSchemas(c)
		case "sampleUnits":
			for ok := c.Open('{'); ok && c.More('}'); {
				switch string(c.Key()) {
				case "threadCPUDelta":
					m.cpuUnit = c.Text()
				case "time":
					m.bytes = c.Text() == "bytes"
				}
			}
		}
	}
}

func (m *meta) readCategories(c *jsonstream.Cursor) {
	for ok := c.Open('['); ok && c.More(']'); {
		category := ""
		for ok := c.Open('{'); ok && c.More('}'); {
			if string(c.Key()) == "name" {
				category = c.Text()
			}
		}
		m.categories = append(m.categories, category)
	}
}

// readSchemas looks for members of markers that are numbers of strings.
func (m *meta) readSchemas(c *jsonstream.Cursor) {
	m.interned = map[string]map[string]bool{}
	for ok := c.Open('['); ok && c.More(']'); {
		name := ""
		var keys []string
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "name":
				name = c.Text()
			case "fields", "data":
				keys = readFields(c)
			}
		}
		for _, key := range keys {
			if m.interned[name] == nil {
				m.interned[name] = map[string]bool{}
			}
			m.interned[name][key] = true
		}
	}
}

func readFields(c *jsonstream.Cursor) (keys []string) {
	for ok := c.Open('['); ok && c.More(']'); {
		key, format := "", ""
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "key":
				key = c.Text()
			case "format":
				format = c.Scalar().String() // a text, or an object for tables
			}
		}
		switch format {
		case "unique-string", "flow-id", "terminating-flow-id":
			keys = append(keys, key)
		}
	}
	return keys
}

// A library is where code was loaded.
type library struct {
	name       string
	start, end float64
}

func readLibraries(r *jsonstream.Reader) (list []library, err error) {
	err = r.Array(func() error {
		var l library
		_, err := r.Take(func(c *jsonstream.Cursor) {
			for ok := c.Open('{'); ok && c.More('}'); {
				switch string(c.Key()) {
				case "name":
					l.name = c.Text()
				case "start":
					l.start = number(c)
				case "end":
					l.end = number(c)
				}
			}
		})
		list = append(list, l)
		return err
	})
	return list, err
}

// byAddress finds the library of an address in a list that is sorted by start.
func byAddress(list []library, address float64) *library {
	at, _ := slices.BinarySearchFunc(list, address, func(l library, a float64) int { return cmp.Compare(l.start, a) })
	if at < len(list) && list[at].start == address {
		return &list[at]
	}
	if at > 0 && address < list[at-1].end {
		return &list[at-1]
	}
	return nil
}
