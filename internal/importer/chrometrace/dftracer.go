package chrometrace

import "strings"

// DFTracer keeps long strings out of its records: a metadata record HH (host), FH
// (file), SH (other text) gives a name for a hash, and arguments called fhash,
// cmd_hash and so on use it.

// hash takes a metadata record that gives a name for a hash.
func (c *dictionary) hash(r *record) bool {
	name := string(r.name.raw())
	if name != "HH" && name != "FH" && name != "SH" && name != "PR" {
		return false
	}
	if v := r.argument("value"); v.present() {
		c.hashes[string(v.raw())] = string(r.argument("name").plain(nil))
	}
	return true
}

// hashedName is the name of an attribute whose hash was resolved.
func hashedName(key string) string {
	switch key {
	case "fhash":
		return "file"
	case "hhash":
		return "host"
	}
	return strings.TrimSuffix(strings.TrimSuffix(key, "hash"), "_")
}
