package main

import (
	"context"
	"errors"
	"io"
	"os"
)

// untilEOF runs a command that serves. With --until-eof or --child it also ends when standard input does: a pipe
// ends with the program that holds its other end, even if that was killed.
func (e *env) untilEOF(ctx context.Context, f func(context.Context) error) error {
	if !e.flag("until-eof") && !e.flag("child") {
		return f(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, os.Stdin) // an error ends it too: the other end is gone
		cancel()
	}()
	if err := f(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
