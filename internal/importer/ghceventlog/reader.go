package ghceventlog

import (
	"cmp"
	"context"
	"errors"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var errHead = errors.New("the head does not fit")

// head reads the types.
func (l *log) head() error {
	if l.in.Text(len(begin)) != begin {
		return errHead
	}
	for {
		mark := l.in.Text(4)
		if mark != typeMark {
			if mark+l.in.Text(len(headEnd)-4) != headEnd {
				return cmp.Or(l.in.Err(), errHead)
			}
			return nil
		}
		number, size := l.in.Uint16(), l.in.Uint16()
		length := l.in.Uint32()
		if length > 1<<16 {
			return errHead
		}
		name := l.in.Text(int(length))
		extra := l.in.Uint32()
		if extra > 1<<20 {
			return errHead
		}
		l.in.Take(int(extra))
		if l.in.Text(4) != typeEnd {
			return cmp.Or(l.in.Err(), errHead)
		}
		l.kinds[number] = kind{int(size), name}
	}
}

var errType = errors.New("a record of a type that the head does not name")

// records reads all; an error says that the file breaks off.
func (l *log) records(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		start := l.in.Offset()
		number := l.in.Uint16()
		if l.in.Failed() || number == dataEnd {
			return l.in.Err()
		}
		k, ok := l.kinds[number]
		if !ok {
			return errType
		}
		at, size := trace.Time(l.in.Uint64()), k.size
		if size == variable {
			size = int(l.in.Uint16())
		}
		b := l.in.Take(size)
		if l.in.Failed() {
			return l.in.Err()
		}
		if at < 0 || at > 1<<61 {
			l.odd++
			continue
		}
		l.record(number, k, at, b, start)
	}
}
