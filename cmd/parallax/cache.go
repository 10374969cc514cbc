package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/warehouse"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

func cacheCommand() *command {
	return &command{
		name: "cache", args: "[list | clear]", summary: "list or clear the cache of imported stores",
		help: "`open`, `info` and `view` store their imports here, and reuse them until the source files " +
			"change.\n\n  parallax cache\n  parallax cache clear",
		flags: func(fs *pflag.FlagSet) { fs.String("cache", "", "directory of imported stores") },
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
			fmt.Fprintf(e.stdout, "%9s  %s  %s\n", view.FormatBytes(float64(s.Size)), s.Used.Format("2006-01-02 15:04"),
				filepath.Base(s.Path))
		}
		fmt.Fprintf(e.stdout, "%d stores, %s of %s, in %s\n", len(all), view.FormatBytes(float64(sum)),
			view.FormatBytes(float64(c.Limit)), c.Dir)
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
	return words.NotOneOf("cache", strings.Join(args, " "), "list", "clear")
}

func runsCommand() *command {
	return &command{
		name: "runs", args: "clickhouse://HOST:PORT/DATABASE", summary: "list the runs in a cluster, with size and " +
			"age",
		help: "Lists the runs that `parallax import SOURCE -o clickhouse://HOST:PORT/DATABASE/RUN` wrote, latest " +
			"first.\n\n  parallax runs clickhouse://db1:9000,db2:9000/traces",
		flags: func(fs *pflag.FlagSet) { fs.Bool("json", false, "as JSON") },
		run:   runRuns,
	}
}

func runRuns(ctx context.Context, e *env, args []string) error {
	a, err := oneAddress("runs", args)
	if err != nil {
		return err
	}
	all, err := clickhouse.List(ctx, a)
	if err != nil {
		return err
	}
	if e.flag("json") {
		type row struct {
			Name      string    `json:"name"`
			Source    string    `json:"source"`
			Format    string    `json:"format"`
			Created   time.Time `json:"created"`
			Shards    int       `json:"shards"`
			Locations int64     `json:"locations"`
			Intervals int64     `json:"intervals"`
			Bytes     int64     `json:"bytes"`
		}
		rows := []row{}
		for _, r := range all {
			rows = append(rows,
				row{r.Name, r.Source, r.Format, r.Created.UTC(), r.Shards, r.Locations, r.Intervals, r.Bytes})
		}
		out := json.NewEncoder(e.stdout)
		out.SetIndent("", "  ")
		return out.Encode(map[string]any{"runs": rows})
	}
	for _, r := range all {
		fmt.Fprintf(plain{e.stdout}, "%9s  %s  %s intervals on %s locations, %d shards, from %s  %s\n",
			view.FormatBytes(float64(r.Bytes)), r.Created.Local().Format("2006-01-02 15:04"),
			view.FormatCount(float64(r.Intervals)), view.FormatCount(float64(r.Locations)), r.Shards, r.Source, r.Name)
	}
	fmt.Fprintf(e.stdout, "%d runs in %s\n", len(all), a)
	return nil
}

func rmCommand() *command {
	return &command{
		name: "rm", args: "clickhouse://HOST:PORT/DATABASE/RUN",
		summary: "remove a run from a cluster; asks for confirmation",
		help: "Removes the run from all servers, after confirmation or with --yes. --lake removes a run that " +
			"`export --lake` wrote.\n\n  parallax rm clickhouse://db1:9000,db2:9000/traces/monday",
		flags: func(fs *pflag.FlagSet) {
			fs.Bool("yes", false, "do not ask")
			fs.Bool("lake", false, "the run in the lake of the database")
		},
		run: func(ctx context.Context, e *env, args []string) error { return runRemove(ctx, e, args, os.Stdin) },
	}
}

func runRemove(ctx context.Context, e *env, args []string, in io.Reader) error {
	a, err := oneAddress("rm", args)
	if err != nil {
		return err
	}
	if a.Run == "" {
		return usage("rm: name a run, clickhouse://HOST:PORT/DATABASE/RUN; `parallax runs %s` lists them", a)
	}
	if !e.flag("yes") {
		fmt.Fprintf(plain{e.stdout}, "Remove %s for good? [y/N] ", a)
		answer, _ := bufio.NewReader(in).ReadString('\n')
		if s := strings.ToLower(strings.TrimSpace(answer)); s != "y" && s != "yes" {
			fmt.Fprintln(e.stdout, "nothing was removed")
			return errSilent
		}
	}
	remove := clickhouse.Remove
	if e.flag("lake") {
		remove = warehouse.Remove
	}
	if err := remove(ctx, a); err != nil {
		return err
	}
	fmt.Fprintf(plain{e.stdout}, "removed %s\n", a)
	return nil
}

func oneAddress(verb string, args []string) (*clickhouse.Address, error) {
	if len(args) != 1 || !clickhouse.IsAddress(args[0]) {
		return nil, usage("%s: name one address, clickhouse://HOST:PORT/DATABASE", verb)
	}
	a, err := clickhouse.Parse(args[0])
	if err != nil {
		return nil, usage("%s: %v", verb, err)
	}
	return a, nil
}
