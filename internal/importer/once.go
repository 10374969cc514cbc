package importer

// Once gives what a key stands for among what is known; define says it the first time.
func Once[K comparable, V any](known map[K]V, key K, define func() V) V {
	v, ok := known[key]
	if !ok {
		v = define()
		known[key] = v
	}
	return v
}
