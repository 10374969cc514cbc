package jsonstream

import (
	"bytes"
	"encoding/json"
)

// Keys returns the names of members that the beginning of a JSON text holds, as
// paths: "data", "data.spans". Lists count as their elements, and a text may be
// cut anywhere. At most so many tokens are looked at.
func Keys(head []byte, most int) map[string]bool {
	type level struct {
		prefix, member string
		object, named  bool // named: the value of member is due
	}
	keys := map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(head))
	stack := []level{{}}
	for range most {
		t, err := d.Token()
		if err != nil {
			break
		}
		top := &stack[len(stack)-1]
		delim, isDelim := t.(json.Delim)
		switch {
		case isDelim && (delim == '}' || delim == ']'):
			stack = stack[:len(stack)-1]
		case isDelim:
			inner := level{prefix: top.prefix, object: delim == '{'}
			if top.object {
				inner.prefix, top.named = top.member+".", false
			}
			stack = append(stack, inner)
		case top.object && !top.named:
			name, _ := t.(string)
			top.member, top.named = top.prefix+name, true
			keys[top.member] = true
		default:
			top.named = false
		}
	}
	return keys
}
