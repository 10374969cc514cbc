package parallel

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// Caught takes panics of goroutines to the one that waits for them. A panic in a goroutine ends the whole process,
// and with it every run of a server; one in the goroutine of a request costs only that request.
type Caught struct{ first atomic.Pointer[Panic] }

// A Panic is a panic of a goroutine, with its stack.
type Panic struct {
	Value any
	Stack []byte
}

func (p Panic) String() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

var errPanic = errors.New("a goroutine panicked")

// Do calls f in a goroutine of its own; a panic is an error for now.
func (c *Caught) Do(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.first.CompareAndSwap(nil, &Panic{v, debug.Stack()})
			err = errPanic
		}
	}()
	return f()
}

// Pass panics in the goroutine that has waited for the others, with the value one of them panicked with, unchanged
// if it has a stack of its own.
func (c *Caught) Pass() {
	p := c.first.Load()
	if p == nil {
		return
	}
	if s, ok := p.Value.(fmt.Stringer); ok {
		panic(s)
	}
	panic(*p)
}
