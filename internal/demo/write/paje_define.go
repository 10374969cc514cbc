package write

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// pajeFields are the fields of each definition, in order; those of ours come last.
var pajeFields = [pajeSets]string{
	pajeContainerType: "PajeDefineContainerType Alias Type Name",
	pajeVariableType:  "PajeDefineVariableType Alias Type Name",
	pajeStateType:     "PajeDefineStateType Alias Type Name",
	pajeEventType:     "PajeDefineEventType Alias Type Name",
	pajeLinkType:      "PajeDefineLinkType Alias Type StartContainerType EndContainerType Name",
	pajeEntityValue:   "PajeDefineEntityValue Alias Type Name Color Role",
	pajeCreate:        "PajeCreateContainer Time Alias Type Container Name Order",
	pajeDestroy:       "PajeDestroyContainer Time Type Name",
	pajeSetVariable:   "PajeSetVariable Time Type Container Value",
	pajePush:          "PajePushState Time Type Container Value",
	pajePop:           "PajePopState Time Type Container",
	pajeStartLink:     "PajeStartLink Time Type Container Value StartContainer Key",
	pajeEndLink:       "PajeEndLink Time Type Container Value EndContainer Key",
	pajeNewEvent:      "PajeNewEvent Time Type Container Value",
	pajeVariableUnit:  "PajeDefineVariableType Alias Type Name Unit",
	pajeValueCategory: "PajeDefineEntityValue Alias Type Name Color Role Category",
	pajeCreateRank:    "PajeCreateContainer Time Alias Type Container Name Order Rank",
	pajeCreatePlace:   "PajeCreateContainer Time Alias Type Container Name Order Rank Coordinates",
	pajeStartTag:      "PajeStartLink Time Type Container Value StartContainer Key Tag",
	pajeStartSize:     "PajeStartLink Time Type Container Value StartContainer Key Tag Size",
}

// pajeFieldTypes are the types of fields that are no strings.
var pajeFieldTypes = map[string]string{"Time": "date", "Color": "color", "Order": "int", "Rank": "int", "Size": "int",
	"Tag": "int"}

// writeDefinitions writes the fields of events, and all types and values.
func (p *paje) writeDefinitions(out *bufio.Writer) {
	fmt.Fprintln(out, "# written by Parallax")
	for _, k := range p.properties {
		fmt.Fprintf(out, "# %s: %s\n", k[0], strings.ReplaceAll(k[1], "\n", " "))
	}
	for number, fields := range pajeFields {
		if number == pajeSetVariable {
			fields = strings.Replace(fields, "Value", "Value:double", 1)
		}
		defineEvent(out, number, fields)
	}
	p.defineSets(out)
	p.defineTypes(out)
	p.defineValues(out)
}

func defineEvent(out *bufio.Writer, number int, fields string) {
	words := strings.Fields(fields)
	fmt.Fprintf(out, "%%EventDef %s %d\n", words[0], number)
	for _, w := range words[1:] {
		name, kind, typed := strings.Cut(w, ":")
		if !typed {
			kind = "string"
			if t, ok := pajeFieldTypes[name]; ok {
				kind = t
			}
		}
		fmt.Fprintf(out, "%%  %s %s\n", name, kind)
	}
	fmt.Fprintf(out, "%%EndEventDef\n")
}

// defineSets writes the definitions of pushes and events with attributes.
func (p *paje) defineSets(out *bufio.Writer) {
	sets := make([]string, len(p.sets))
	for key, n := range p.sets {
		sets[n] = key
	}
	for n, key := range sets {
		more := ""
		for b := []byte(key); len(b) > 0; b = b[4:] {
			more += " " + p.fieldName(binary.LittleEndian.Uint32(b)) + ":string"
		}
		defineEvent(out, pajeSets+2*n, pajeFields[pajePush]+more)
		defineEvent(out, pajeSets+2*n+1, pajeFields[pajeNewEvent]+more)
	}
}

// fieldName is the name of an attribute as a word.
func (p *paje) fieldName(id uint32) string {
	name, err := strconv.Unquote(strings.TrimSuffix(p.attributes[id], ":"))
	if err != nil || name == "" {
		name = fmt.Sprint("attribute", id)
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '"' || r == '#' || r == '%' || r == ':' {
			return '_'
		}
		return r
	}, name)
}

// typeName is how a type of containers is referred to.
func typeName(t int) string {
	if t < 0 {
		return "0"
	}
	return fmt.Sprint("t", t)
}

func (p *paje) defineTypes(out *bufio.Writer) {
	for id := range p.locations {
		p.typeOfLocation(trace.LocationID(id))
	}
	for t, k := range p.list {
		fmt.Fprintf(out, "%d t%d %s %s\n", pajeContainerType, t, typeName(k.parent), appendQuoted(nil, string(k.kind)))
	}
	for _, t := range typesIn(p.states) {
		fmt.Fprintf(out, "%d s%d t%d State\n", pajeStateType, t, t)
	}
	for _, t := range typesIn(p.events) {
		fmt.Fprintf(out, "%d e%d t%d Event\n", pajeEventType, t, t)
	}
	series := make([]pajeSeries, len(p.series))
	for k, n := range p.series {
		series[n] = k
	}
	for n, k := range series {
		number, more := pajeVariableType, ""
		if k.unit != "" {
			number, more = pajeVariableUnit, " "+string(appendQuoted(nil, k.unit))
		}
		fmt.Fprintf(out, "%d v%d t%d %s%s\n", number, n, k.of, appendQuoted(nil, k.name), more)
	}
	links := make([]pajeLink, len(p.links))
	for k, n := range p.links {
		links[n] = k
	}
	for n, k := range links {
		fmt.Fprintf(out, "%d l%d 0 t%d t%d %s\n", pajeLinkType, n, k.from, k.to, k.kind)
	}
}

// typesIn lists the types of containers on which values are used.
func typesIn(used map[[2]uint32]bool) (types []uint32) {
	for k := range used {
		types = append(types, k[0])
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// pajeColours are by role: red, green and blue between 0 and 1.
var pajeColours = [trace.RoleCount]string{
	trace.RoleNone: "0.6 0.6 0.6", trace.RoleCompute: "0.2 0.6 0.3", trace.RoleCommunication: "0.85 0.35 0.2",
	trace.RoleSynchronization: "0.8 0.6 0.1",
	trace.RoleIdle:            "0.8 0.8 0.8", trace.RoleIO: "0.5 0.3 0.7", trace.RoleCopy: "0.2 0.5 0.8",
	trace.RoleOverhead: "0.5 0.5 0.3", trace.RoleAnnotation: "0.4 0.4 0.4",
}

func (p *paje) defineValues(out *bufio.Writer) {
	order := func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) }
	for i, used := range []map[[2]uint32]bool{p.states, p.events} {
		for _, k := range slices.SortedFunc(maps.Keys(used), order) {
			r := p.regions[k[1]]
			role := r.Role
			if role == trace.RoleByName {
				role = trace.RoleOf(r.Name, r.Category)
			}
			number, more := pajeEntityValue, ""
			if r.Category != "" {
				number, more = pajeValueCategory, " "+string(appendQuoted(nil, r.Category))
			}
			fmt.Fprintf(out, "%d r%d %c%d %s \"%s\" %s%s\n", number, k[1], "se"[i], k[0], appendQuoted(nil, r.Name),
				pajeColours[role], role, more)
		}
	}
}

// writeContainers creates all containers at time zero, parents first.
func (p *paje) writeContainers(out *bufio.Writer) {
	coordinates := map[trace.LocationID]string{}
	for _, t := range p.topologies {
		for _, at := range t.Coordinates {
			coordinates[at.Location] = fmt.Sprintf("%s %v", t.Name, at.At)
		}
	}
	for id, l := range p.locations {
		parent := "0"
		if l.Parent != trace.NoLocation {
			parent = fmt.Sprint("c", l.Parent)
		}
		number, more := pajeCreate, ""
		if l.Rank != trace.NoRank {
			number, more = pajeCreateRank, fmt.Sprint(" ", l.Rank)
			if at := coordinates[trace.LocationID(id)]; at != "" {
				number, more = pajeCreatePlace, fmt.Sprintf(" %d %s", l.Rank, appendQuoted(nil, at))
			}
		}
		fmt.Fprintf(out, "%d 0.000000000 c%d t%d %s %s %d%s\n", number, id, p.typeOf[trace.LocationID(id)], parent,
			appendQuoted(nil, l.Name), l.Order, more)
	}
}
