package cube

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// An anchor is the content of anchor.xml, in its own words.
type anchor struct {
	XMLName    xml.Name   `xml:"cube"`
	Version    string     `xml:"version,attr"`
	Attributes []keyValue `xml:"attr"`
	Metrics    []*metric  `xml:"metrics>metric"`
	Regions    []region   `xml:"program>region"`
	Nodes      []*node    `xml:"program>cnode"`
	System     systemPart `xml:"system"`
}

type keyValue struct {
	Key   string `xml:"key,attr"`
	Value string `xml:"value,attr"`
}

type metric struct {
	ID         string    `xml:"id,attr"`
	Type       string    `xml:"type,attr"`
	Shown      string    `xml:"viztype,attr"`
	Title      string    `xml:"disp_name"`
	Name       string    `xml:"uniq_name"`
	DataType   string    `xml:"dtype"`
	Unit       string    `xml:"uom"`
	Text       string    `xml:"descr"`
	Expression string    `xml:"cubepl"`
	Init       string    `xml:"cubeplinit"`
	Children   []*metric `xml:"metric"`
}

type region struct {
	ID       int    `xml:"id,attr"`
	Module   string `xml:"mod,attr"`
	Begin    int    `xml:"begin,attr"`
	End      int    `xml:"end,attr"`
	Name     string `xml:"name"`
	Mangled  string `xml:"mangled_name"`
	Paradigm string `xml:"paradigm"`
	Role     string `xml:"role"`
	Text     string `xml:"descr"`
}

type node struct {
	ID         int         `xml:"id,attr"`
	Line       int         `xml:"line,attr"`
	Module     string      `xml:"mod,attr"`
	Callee     int         `xml:"calleeId,attr"`
	Parameters []parameter `xml:"parameter"`
	Children   []*node     `xml:"cnode"`
}

type parameter struct {
	Key    string `xml:"parkey,attr"`
	Value  string `xml:"parvalue,attr"`
	Kind   string `xml:"partype,attr"`
	KeyOld string `xml:"key,attr"`
	ValOld string `xml:"value,attr"`
}

// A systemPart is the system, or a node of its tree. Older files have a word of
// their own for each level.
type systemPart struct {
	XMLName    xml.Name
	ID         string       `xml:"Id,attr"`
	Name       string       `xml:"name"`
	Class      string       `xml:"class"`
	Type       string       `xml:"type"`
	Rank       string       `xml:"rank"`
	Text       string       `xml:"descr"`
	Attributes []keyValue   `xml:"attr"`
	Topologies []topology   `xml:"topologies>cart"`
	Parts      []systemPart `xml:",any"`
}

type topology struct {
	Name string `xml:"name,attr"`
	Dims []struct {
		Name     string `xml:"name,attr"`
		Size     int    `xml:"size,attr"`
		Periodic string `xml:"periodic,attr"`
	} `xml:"dim"`
	Coordinates []struct {
		Attributes []xml.Attr `xml:",any,attr"`
		At         string     `xml:",chardata"`
	} `xml:"coord"`
}

// mostAnchor bounds the size of a definition file.
const mostAnchor = 1 << 30

func readAnchor(b *box) (*anchor, error) {
	p, ok, err := b.part(anchorName)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil,
			&importer.Error{File: b.label, Cause: "the archive holds no anchor.xml",
				Hint: "it may be cut off: copy it again", Kind: importer.ErrMalformed}
	}
	var r io.Reader = io.NewSectionReader(p.r, 0, min(p.size, mostAnchor))
	magic := make([]byte, 2)
	if _, err := p.r.ReadAt(magic, 0); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, importer.Malformed(b.place(anchorName), "", "gzip: %v", err)
		}
		r = io.LimitReader(z, mostAnchor)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, importer.Malformed(b.place(anchorName), "", "%v", err)
	}
	data = bytes.TrimRight(data, "\x00")
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	a := new(anchor)
	if err := d.Decode(a); err != nil {
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return nil, importer.Malformed(b.place(anchorName), "line "+decimal(syntax.Line), "%s", syntax.Msg)
		}
		return nil, importer.Malformed(b.place(anchorName), "", "%s", strings.TrimPrefix(err.Error(), "xml: "))
	}
	return a, nil
}
