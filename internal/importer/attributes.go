package importer

import "github.com/parallax-hpc/parallax/internal/trace"

// Attributes are the attributes of a run by name: the writer is asked once for each.
type Attributes struct {
	w   trace.Writer
	ids map[string]trace.AttributeID
}

// NewAttributes asks the writer.
func NewAttributes(w trace.Writer) Attributes {
	return Attributes{w: w, ids: map[string]trace.AttributeID{}}
}

// ID is that of the attribute of a name.
func (a *Attributes) ID(name string) trace.AttributeID {
	id, ok := a.ids[name]
	if !ok {
		id = a.w.Attribute(name)
		a.ids[name] = id
	}
	return id
}
