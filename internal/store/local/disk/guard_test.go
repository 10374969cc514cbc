package disk

import (
	"errors"
	"testing"
)

// What is called by a query may read on: damage that it meets then is damage, and a fault of its own is not.
func TestDamageInACallbackIsReportedAsDamage(t *testing.T) {
	call := func(with any) error {
		return Guard(func() error { return Shield(func(int) error { panic(with) })(1) })
	}
	for _, p := range []any{Damage("interval.duration"), Unreachable{ErrDamaged}} {
		if err := call(p); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v: %v", p, err)
		}
	}
	defer func() {
		if p, ok := recover().(CalleePanic); !ok || p.Value != "its own" {
			t.Errorf("a fault of who is called comes out as %v", p)
		}
	}()
	t.Errorf("it is taken for damage: %v", call("its own"))
}
