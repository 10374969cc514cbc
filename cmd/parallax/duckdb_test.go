package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parallax-hpc/parallax/internal/lake"
)

// duckProgram makes a view of each table of a lake as docs/lake.md says, and answers statements, a line of JSON each.
// A cell is null, or text behind the first letter of its type.
const duckProgram = `
const { DuckDBInstance } = require("@duckdb/node-api");
const cell = (v) => v === null || v === undefined ? null : typeof v === "bigint" ? "i" + v :
  typeof v === "number" ? "f" + v : typeof v === "boolean" ? "i" + Number(v) : "s" + v;
(async () => {
  const c = await (await DuckDBInstance.create(":memory:")).connect();
  await c.run("set TimeZone = 'UTC'");
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    const began = process.cpuUsage();
    let answer;
    try { answer = { rows: (await c.runAndReadAll(JSON.parse(line))).getRows().map((r) => r.map(cell)) }; }
    catch (e) { answer = { failed: String(e.message || e) }; }
    const took = process.cpuUsage(began);
    answer.micros = took.user + took.system;
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
})();
`

// A duckLake is a DuckDB over a lake.
type duckLake struct {
	in  io.Writer
	out *bufio.Reader
}

// startDuck starts DuckDB.
func startDuck(t testing.TB, dir string) *duckLake {
	t.Helper()
	cmd := exec.Command("node", "-e", duckProgram)
	cmd.Dir, cmd.Stderr = duckFolder(t), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	d := &duckLake{in, bufio.NewReader(out)}
	for _, of := range lake.Tables {
		if _, err := os.Stat(filepath.Join(dir, of.Name)); err != nil {
			continue // no run has a row
		}
		if _, _, err := d.ask(fmt.Sprintf("create view %q as select * from read_parquet('%s/%s/*/*/*.parquet', "+
			"hive_partitioning = true, hive_types_autocast = false)", of.Name, dir, of.Name)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// ask returns the rows of a statement, and the processor time that it took, in microseconds.
func (d *duckLake) ask(text string) (rows [][]any, micros int64, err error) {
	line, err := json.Marshal(text)
	if err != nil {
		return nil, 0, err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return nil, 0, err
	}
	said, err := d.out.ReadBytes('\n')
	if err != nil {
		return nil, 0, err
	}
	var answer struct {
		Rows   [][]*string
		Failed string
		Micros int64
	}
	if err := json.Unmarshal(said, &answer); err != nil {
		return nil, 0, err
	}
	if answer.Failed != "" {
		return nil, 0, fmt.Errorf("%s", answer.Failed)
	}
	for _, r := range answer.Rows {
		var row []any
		for _, c := range r {
			row = append(row, cellOf(c))
		}
		rows = append(rows, row)
	}
	return rows, answer.Micros, nil
}

func cellOf(c *string) any {
	if c == nil {
		return nil
	}
	text := (*c)[1:]
	switch (*c)[0] {
	case 'i':
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case 'f':
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			if f == math.Trunc(f) {
				return int64(f)
			}
			return f
		}
	}
	return text
}
