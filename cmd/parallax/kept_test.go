package main

import (
	"encoding/gob"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/derived"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

// Imports of one source have the same bytes, so the results that they keep must be encoded in one order. gob writes the
// entries of a map in any.
func TestResultsThatAnImportKeepsHaveNoMaps(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(t reflect.Type, at string)
	walk = func(x reflect.Type, at string) {
		if seen[x] || x.Implements(reflect.TypeFor[gob.GobEncoder]()) {
			return
		}
		seen[x] = true
		switch x.Kind() {
		case reflect.Map:
			t.Errorf("%s is a %v: keep a list in the order of its keys", at, x)
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(x.Elem(), at)
		case reflect.Struct:
			for i := range x.NumField() {
				if f := x.Field(i); f.IsExported() {
					walk(f.Type, at+"."+f.Name)
				}
			}
		}
	}
	for _, kept := range append(append(views.AtImport(), all.AtImport...), derived.Preparer(fingerprint.OfRun)) {
		k := reflect.ValueOf(kept)
		made := k.FieldByName("Make").Type().Out(0)
		walk(made, k.FieldByName("Name").String()+": "+made.String())
	}
	if len(seen) < 20 {
		t.Errorf("%d types were looked at", len(seen))
	}
}
