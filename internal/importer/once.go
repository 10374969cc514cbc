package importer

// Once returns the value of a key in known; define makes it the first time.
func Once[K comparable, V any](known map[K]V, key K, define func() V) V {
	v, ok := known[key]
	if !ok {
		v = define()
		known[key] = v
	}
	return v
}
