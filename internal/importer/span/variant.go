package span

import (
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostVariants bounds the rows of a service's instance that differ in their resource alone.
const mostVariants = 64

// variants are the resources that spans of one service and instance state, such as two versions of a service that
// names no instance. Each has a row; the first has the instance's own.
type variants struct {
	list  [][]trace.Attribute
	names []string
}

// recentResource is a resource met lately, with the row that it leads to.
type recentResource struct {
	first *trace.Attribute
	key   rowKey
	to    rowKey
}

// rowOf returns the row of a span: that of its service, its instance and its resource.
func (w *Writer) rowOf(s *Span) rowKey {
	k := rowKey{s.Service, s.Instance}
	if len(s.Resource) == 0 {
		return k
	}
	recent := &w.resources[(nearby(s.Service)+nearby(s.Instance))%recentRows]
	if recent.first == &s.Resource[0] && recent.key == k {
		return recent.to
	}
	v := w.variants[k]
	if v == nil {
		v = &variants{}
		w.variants[k] = v
	}
	*recent = recentResource{&s.Resource[0], k, rowKey{k.service, v.name(k.instance, s.Resource)}}
	return recent.to
}

// name returns the name of the row of a resource: the instance, and for others than the first the facts in which
// they differ from it.
func (v *variants) name(instance string, resource []trace.Attribute) string {
	for i, known := range v.list {
		if len(differing(known, resource)) == 0 && len(differing(resource, known)) == 0 {
			return v.names[i]
		}
	}
	name := instance
	switch {
	case len(v.list) == mostVariants:
		return instance
	case len(v.list) > 0:
		facts := differing(v.list[0], resource)
		if len(facts) == 0 {
			facts = []string{"other"}
		}
		name = strings.TrimSpace(instance + " " + strings.Join(facts, ", "))
	}
	v.list, v.names = append(v.list, resource), append(v.names, name)
	return name
}

// differing lists the facts of a resource that another does not have, as "version=v2". Facts of a process and its
// library distinguish no rows: a service that starts a process for each request has thousands.
func differing(from, resource []trace.Attribute) (facts []string) {
	for _, a := range resource {
		if strings.HasPrefix(a.Key, "process.") || strings.HasPrefix(a.Key, "telemetry.") {
			continue
		}
		if !slices.Contains(from, a) {
			facts = append(facts, a.Key[strings.LastIndexByte(a.Key, '.')+1:]+"="+a.Value.String())
		}
	}
	return facts
}
