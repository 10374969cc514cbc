package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/spf13/pflag"
)

func cacheCommand() *command {
	return &command{
		name: "cache", args: "[list | clear]", summary: "imported stores kept for reopening",
		help:  "Stores that `open`, `info` and `view` made are kept and reused while the files they came from stay the same.\n\n  parallax cache\n  parallax cache clear",
		flags: func(fs *pflag.FlagSet) { fs.String("cache", "", "where imported stores are kept") },
		run:   runCache,
	}
}

func runCache(_ context.Context, e *env, args []string) error {
	c, err := load.OpenCache(e.text("cache"))
	if err != nil {
		return err
	}
	local.RemoveStale(c.Dir)
	all, err := c.List()
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0 || len(args) == 1 && args[0] == "list":
		var sum int64
		for _, s := range all {
			sum += s.Size
			fmt.Fprintf(e.stdout, "%9s  %s  %s\n", view.FormatBytes(float64(s.Size)), s.Used.Format("2006-01-02 15:04"), filepath.Base(s.Path))
		}
		fmt.Fprintf(e.stdout, "%d stores, %s of %s, in %s\n", len(all), view.FormatBytes(float64(sum)), view.FormatBytes(float64(c.Limit)), c.Dir)
		return nil
	case len(args) == 1 && args[0] == "clear":
		for _, s := range all {
			if err := os.RemoveAll(s.Path); err != nil {
				return fmt.Errorf("clear the cache: %w", err)
			}
		}
		fmt.Fprintf(e.stdout, "removed %d stores\n", len(all))
		return nil
	}
	return usage("cache: want list or clear")
}
