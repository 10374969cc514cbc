package otlpprofiles

import (
	"encoding/hex"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
)

// Messages of the protocol, as far as they are read. JSON has numbers of 64 bits as strings.
type (
	number int64

	profilesData struct {
		Resources  []resourceProfiles `json:"resourceProfiles"`
		Dictionary dictionary         `json:"dictionary"`
	}
	dictionary struct {
		Mappings   []mapping   `json:"mappingTable"`
		Locations  []location  `json:"locationTable"`
		Functions  []function  `json:"functionTable"`
		Links      []link      `json:"linkTable"`
		Texts      []string    `json:"stringTable"`
		Attributes []attribute `json:"attributeTable"`
		Stacks     []stackOf   `json:"stackTable"`
	}
	mapping struct {
		File number `json:"filenameStrindex"`
	}
	location struct {
		Mapping number `json:"mappingIndex"`
		Address number `json:"address"`
		Lines   []line `json:"lines"`
	}
	line struct {
		Function number `json:"functionIndex"`
		Line     number `json:"line"`
	}
	function struct {
		Name  number `json:"nameStrindex"`
		File  number `json:"filenameStrindex"`
		Start number `json:"startLine"`
	}
	link struct {
		Trace string `json:"traceId"`
		Span  string `json:"spanId"`
	}
	stackOf struct {
		Locations []number `json:"locationIndices"`
	}
	attribute struct { // of the table, or of a resource
		Name  string `json:"key"`
		Key   number `json:"keyStrindex"`
		Value value  `json:"value"`
	}
	value struct {
		Text    string `json:"stringValue"`
		TextAt  number `json:"stringValueStrindex"`
		Integer number `json:"intValue"`
	}
	resourceProfiles struct {
		Resource struct {
			Attributes []attribute `json:"attributes"`
		} `json:"resource"`
		Scopes []scopeProfiles `json:"scopeProfiles"`
	}
	scopeProfiles struct {
		Profiles []profile `json:"profiles"`
	}
	profile struct {
		Type struct {
			Name number `json:"typeStrindex"`
			Unit number `json:"unitStrindex"`
		} `json:"sampleType"`
		Samples []sample `json:"samples"`
	}
	sample struct {
		Stack      number   `json:"stackIndex"`
		Attributes []number `json:"attributeIndices"`
		Link       number   `json:"linkIndex"`
		Values     []number `json:"values"`
		Times      []number `json:"timestampsUnixNano"`
	}
)

// UnmarshalJSON takes a number, or a text of one.
func (n *number) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `"`)
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil { // above the range of int64, or with a fraction
		u, failed := strconv.ParseUint(text, 10, 64)
		if failed != nil {
			return err
		}
		v = int64(u)
	}
	*n = number(v)
	return nil
}

// A decoder reads protocol buffers.
type decoder struct {
	broken bool
	older  bool // a profile in which field 3 is a list
}

// fields passes on the fields of a message.
func (d *decoder) fields(b []byte, take func(m *protobuf.Message)) {
	m := protobuf.Open(b)
	for m.Next() {
		take(&m)
	}
	d.broken = d.broken || m.Broken
}

func numbers(list []uint64, to []number) []number {
	for _, v := range list {
		to = append(to, number(v))
	}
	return to
}

func (d *decoder) profilesData(b []byte) (p profilesData) {
	d.fields(b, func(m *protobuf.Message) {
		switch m.Number {
		case 1:
			p.Resources = append(p.Resources, d.resource(m.Bytes))
		case 2:
			d.dictionary(m.Bytes, &p.Dictionary)
		}
	})
	return p
}

func (d *decoder) dictionary(b []byte, to *dictionary) {
	d.fields(b, func(m *protobuf.Message) {
		switch m.Number {
		case 1:
			var x mapping
			d.fields(m.Bytes, func(m *protobuf.Message) {
				if m.Number == 4 {
					x.File = number(m.Value)
				}
			})
			to.Mappings = append(to.Mappings, x)
		case 2:
			to.Locations = append(to.Locations, d.location(m.Bytes))
		case 3:
			var x function
			d.fields(m.Bytes, func(m *protobuf.Message) {
				switch m.Number {
				case 1:
					x.Name = number(m.Value)
				case 3:
					x.File = number(m.Value)
				case 4:
					x.Start = number(m.Value)
				}
			})
			to.Functions = append(to.Functions, x)
		case 4:
			var x link
			d.fields(m.Bytes, func(m *protobuf.Message) {
				switch m.Number {
				case 1:
					x.Trace = hex.EncodeToString(m.Bytes)
				case 2:
					x.Span = hex.EncodeToString(m.Bytes)
				}
			})
			to.Links = append(to.Links, x)
		case 5:
			to.Texts = append(to.Texts, string(m.Bytes))
		case 6:
			to.Attributes = append(to.Attributes, d.attribute(m.Bytes, true))
		case 7:
			var x stackOf
			d.fields(m.Bytes, func(m *protobuf.Message) {
				if m.Number == 1 {
					x.Locations = numbers(m.AppendVarints(nil), x.Locations)
				}
			})
			to.Stacks = append(to.Stacks, x)
		}
	})
}

func (d *decoder) location(b []byte) (x location) {
	d.fields(b, func(m *protobuf.Message) {
		switch m.Number {
		case 1:
			x.Mapping = number(m.Value)
		case 2:
			x.Address = number(m.Value)
		case 3:
			var l line
			d.fields(m.Bytes, func(m *protobuf.Message) {
				switch m.Number {
				case 1:
					l.Function = number(m.Value)
				case 2:
					l.Line = number(m.Value)
				}
			})
			x.Lines = append(x.Lines, l)
		}
	})
	return x
}

// attribute reads one of the table, whose key is field 1, or of a resource, whose key is a text or field 3.
func (d *decoder) attribute(b []byte, ofTable bool) (x attribute) {
	d.fields(b, func(m *protobuf.Message) {
		switch {
		case m.Number == 1 && ofTable, m.Number == 3 && !ofTable:
			x.Key = number(m.Value)
		case m.Number == 1:
			x.Name = string(m.Bytes)
		case m.Number == 2:
			d.fields(m.Bytes, func(m *protobuf.Message) {
				switch m.Number {
				case 1:
					x.Value.Text = string(m.Bytes)
				case 3:
					x.Value.Integer = number(m.Value)
				case 8:
					x.Value.TextAt = number(m.Value)
				}
			})
		}
	})
	return x
}

func (d *decoder) resource(b []byte) (r resourceProfiles) {
	d.fields(b, func(m *protobuf.Message) {
		switch m.Number {
		case 1:
			d.fields(m.Bytes, func(m *protobuf.Message) {
				if m.Number == 1 {
					r.Resource.Attributes = append(r.Resource.Attributes, d.attribute(m.Bytes, false))
				}
			})
		case 2:
			var s scopeProfiles
			d.fields(m.Bytes, func(m *protobuf.Message) {
				if m.Number == 2 {
					s.Profiles = append(s.Profiles, d.profile(m.Bytes))
				}
			})
			r.Scopes = append(r.Scopes, s)
		}
	})
	return r
}

func (d *decoder) profile(b []byte) (p profile) {
	d.fields(b, func(m *protobuf.Message) {
		switch m.Number {
		case 1:
			d.fields(m.Bytes, func(m *protobuf.Message) {
				switch m.Number {
				case 1:
					p.Type.Name = number(m.Value)
				case 2:
					p.Type.Unit = number(m.Value)
				}
			})
		case 2:
			p.Samples = append(p.Samples, d.sample(m.Bytes))
		case 3:
			d.older = d.older || m.Kind == protowire.BytesType
		}
	})
	return p
}

func (d *decoder) sample(b []byte) (s sample) {
	d.fields(b, func(m *protobuf.Message) {
		switch m.Number {
		case 1:
			s.Stack = number(m.Value)
		case 2:
			s.Attributes = numbers(m.AppendVarints(nil), s.Attributes)
		case 3:
			s.Link = number(m.Value)
		case 4:
			s.Values = numbers(m.AppendVarints(nil), s.Values)
		case 5:
			s.Times = numbers(m.AppendFixed(nil), s.Times)
		}
	})
	return s
}
