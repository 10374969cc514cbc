package receive

import "google.golang.org/protobuf/encoding/protowire"

// countSpans counts the spans of a request; ok is false if it is none: bytes that break,
// or a span whose ids have other lengths than the protocol gives them.
func countSpans(request []byte) (n int64, ok bool) {
	ok = each(request, 1, func(resource []byte) bool {
		return each(resource, 2, func(scope []byte) bool {
			return each(scope, 2, func(span []byte) bool {
				n++
				return each(span, 1, func(id []byte) bool { return len(id) == 16 }) &&
					each(span, 2, func(id []byte) bool { return len(id) == 8 })
			})
		})
	})
	return n, ok
}

// each yields the fields of a number, which must be bytes, and passes over the others.
func each(b []byte, number protowire.Number, f func([]byte) bool) bool {
	for len(b) > 0 {
		n, kind, k := protowire.ConsumeTag(b)
		if k < 0 {
			return false
		}
		b = b[k:]
		if n == number {
			if kind != protowire.BytesType {
				return false
			}
			inner, k := protowire.ConsumeBytes(b)
			if k < 0 || !f(inner) {
				return false
			}
			b = b[k:]
			continue
		}
		if k = protowire.ConsumeFieldValue(n, kind, b); k < 0 {
			return false
		}
		b = b[k:]
	}
	return true
}
