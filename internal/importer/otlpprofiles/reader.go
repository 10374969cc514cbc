package otlpprofiles

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
)

// Messages of the protocol, as far as they are read. JSON has numbers of 64 bits as strings.
type (
	number int64

	profilesData struct {
		Resources  []resourceProfiles `json:"resourceProfiles" pb:"1"`
		Dictionary dictionary         `json:"dictionary" pb:"2"`
	}
	dictionary struct {
		Mappings   []mapping  `json:"mappingTable" pb:"1"`
		Locations  []location `json:"locationTable" pb:"2"`
		Functions  []function `json:"functionTable" pb:"3"`
		Links      []link     `json:"linkTable" pb:"4"`
		Texts      []string   `json:"stringTable" pb:"5"`
		Attributes []entry    `json:"attributeTable" pb:"6"`
		Stacks     []stackOf  `json:"stackTable" pb:"7"`
	}
	mapping struct {
		File number `json:"filenameStrindex" pb:"4"`
	}
	location struct {
		Mapping number `json:"mappingIndex" pb:"1"`
		Address number `json:"address" pb:"2"`
		Lines   []line `json:"lines" pb:"3"`
	}
	line struct {
		Function number `json:"functionIndex" pb:"1"`
		Line     number `json:"line" pb:"2"`
	}
	function struct {
		Name  number `json:"nameStrindex" pb:"1"`
		File  number `json:"filenameStrindex" pb:"3"`
		Start number `json:"startLine" pb:"4"`
	}
	link struct {
		Trace string `json:"traceId" pb:"1"`
		Span  string `json:"spanId" pb:"2"`
	}
	stackOf struct {
		Locations []number `json:"locationIndices" pb:"1"`
	}
	attribute struct { // of a resource
		Name  string `json:"key" pb:"1"`
		Key   number `json:"keyStrindex" pb:"3"`
		Value value  `json:"value" pb:"2"`
	}
	entry struct { // of the table of attributes
		Name  string `json:"key"`
		Key   number `json:"keyStrindex" pb:"1"`
		Value value  `json:"value" pb:"2"`
	}
	value struct {
		Text    string `json:"stringValue" pb:"1"`
		TextAt  number `json:"stringValueStrindex" pb:"8"`
		Integer number `json:"intValue" pb:"3"`
	}
	resourceProfiles struct {
		Resource struct {
			Attributes []attribute `json:"attributes" pb:"1"`
		} `json:"resource" pb:"1"`
		Scopes []scopeProfiles `json:"scopeProfiles" pb:"2"`
	}
	scopeProfiles struct {
		Profiles []profile `json:"profiles" pb:"2"`
	}
	profile struct {
		Type struct {
			Name number `json:"typeStrindex" pb:"1"`
			Unit number `json:"unitStrindex" pb:"2"`
		} `json:"sampleType" pb:"1"`
		Samples []sample `json:"samples" pb:"2"`
		Older   []byte   `json:"-" pb:"3"` // of versions before 1.10, where it is a list
	}
	sample struct {
		Stack      number   `json:"stackIndex" pb:"1"`
		Attributes []number `json:"attributeIndices" pb:"2"`
		Link       number   `json:"linkIndex" pb:"3"`
		Values     []number `json:"values" pb:"4"`
		Times      []number `json:"timestampsUnixNano" pb:"5,fixed"`
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

var messages = protobuf.TableOf[profilesData]()

// decode reads a message; older: it is of a version before 1.10, sound: it is whole.
func decode(b []byte) (p *profilesData, older, sound bool) {
	p = &profilesData{}
	sound = messages.Decode(b, p)
	for i := range p.Dictionary.Links { // bytes, which are hexadecimal in JSON
		l := &p.Dictionary.Links[i]
		l.Trace, l.Span = hex.EncodeToString([]byte(l.Trace)), hex.EncodeToString([]byte(l.Span))
	}
	for _, r := range p.Resources {
		for _, s := range r.Scopes {
			older = older || slices.ContainsFunc(s.Profiles, func(p profile) bool { return p.Older != nil })
		}
	}
	return p, older, sound
}
