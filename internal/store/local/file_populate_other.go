//go:build !linux

package local

func (m *mapping) ahead(from, to int64) {}
