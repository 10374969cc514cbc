package otf2

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// value translates the value of an attribute or property. Numbers of definitions
// become the names of their definitions; l, which may be nil, maps those of a
// location to the archive's.
func (d *definitions) value(v value, l *local) trace.Value {
	switch v.kind {
	case typeUint8, typeUint16, typeUint32, typeUint64:
		if v.bits > math.MaxInt64 {
			return trace.Number(float64(v.bits))
		}
		return trace.Integer(int64(v.bits))
	case typeInt8, typeInt16, typeInt32, typeInt64:
		return trace.Integer(int64(v.bits))
	case typeFloat, typeDouble:
		return trace.Number(math.Float64frombits(v.bits))
	case typeNone:
		return trace.Value{}
	}
	id := v.bits
	if l != nil && id != undefined32 && id != undefined64 {
		id = l.global(int(v.kind-typeString), id)
	}
	if name, ok := d.nameOf(v.kind, id); ok {
		return trace.Text(name)
	}
	if id > math.MaxInt64 {
		return trace.Value{} // undefined
	}
	return trace.Integer(int64(id))
}

// nameOf is the name of a definition.
func (d *definitions) nameOf(kind uint8, id uint64) (string, bool) {
	name := uint32(undefined32)
	switch kind {
	case typeString:
		return d.strings.get(id)
	case typeAttribute:
		a, _ := d.attributes.get(id)
		name = a.name
	case typeLocation:
		if i, ok := d.locIndex.get(id); ok {
			name = d.locations[i].name
		}
	case typeRegion:
		if i, ok := d.regionIndex.get(id); ok {
			name = d.regions[i].name
		}
	case typeGroup:
		g, _ := d.members.get(id)
		name = g.name
	case typeComm:
		if i, ok := d.commIndex.get(id); ok {
			name = d.comms[i].name
		}
	case typeParameter:
		p, _ := d.parameters.get(id)
		name = p.name
	case typeRmaWin:
		w, _ := d.windows.get(id)
		name = w.name
	case typeSourceCodeLocation:
		s, ok := d.sources.get(id)
		return d.text(s.file) + ":" + decimal(uint64(s.line)), ok
	case typeCallingContext:
		c, _ := d.contexts.get(id)
		return d.nameOf(typeRegion, uint64(c.region))
	case typeInterruptGenerator:
		name, _ = d.generators.get(id)
	case typeIOFile:
		name, _ = d.ioFiles.get(id)
	case typeIOHandle:
		return d.fileOf(id)
	case typeLocationGroup:
		if i, ok := d.groupIndex.get(id); ok {
			name = d.groups[i].name
		}
	}
	s := d.text(name)
	return s, s != ""
}

// fileOf is the name of the file behind a handle, else of the handle.
func (d *definitions) fileOf(handle uint64) (string, bool) {
	h, ok := d.ioHandles.get(handle)
	if !ok {
		return "", false
	}
	if name, ok := d.ioFiles.get(uint64(h.file)); ok && d.text(name) != "" {
		return d.text(name), true
	}
	s := d.text(h.name)
	return s, s != ""
}
