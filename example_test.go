package parallax_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/parallax-hpc/parallax"
)

// The source is a demo, made inside the program; a name of files serves as well.
const source = "demo:stencil"

func Example() {
	ctx := context.Background()
	run, err := parallax.Open(ctx, source)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	i := run.Info()
	fmt.Printf("%s: %d ranks, %d intervals\n", i.Name, i.Ranks, i.Intervals)
	// Output:
	// stencil: 64 ranks, 43332 intervals
}

func ExampleRun_Query() {
	ctx := context.Background()
	run, err := parallax.Open(ctx, source)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	rows, err := run.Query(ctx, "select region, sum(calls), sum(exclusive) as time from time_in() group by 1 order by 3 desc limit 3")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var region string
		var calls, time int64
		if err := rows.Scan(&region, &calls, &time); err != nil {
			log.Fatal(err)
		}
		fmt.Println(region, calls, time)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// relax_tile 6400 34410740242
	// MPI_Waitall 1280 28277432925
	// flux_tile 5120 27522607115
}

// Two runs in one query: the second stands under its name.
func ExampleRun_Query_compare() {
	ctx := context.Background()
	run, err := parallax.Open(ctx, source)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	balanced, err := parallax.Options{Name: "balanced"}.Open(ctx, source+"?balanced")
	if err != nil {
		log.Fatal(err)
	}
	defer balanced.Close()
	rows, err := run.Query(ctx, `select r."end" - b."end" as slower from runs r, balanced.runs b`, balanced)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	if err := rows.WriteCSV(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// slower
	// 721656393
}

func ExampleRun_View() {
	ctx := context.Background()
	run, err := parallax.Open(ctx, source)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	v, err := run.View(ctx, "findings", parallax.Request{})
	if err != nil {
		log.Fatal(err)
	}
	data, err := v.Data()
	if err != nil {
		log.Fatal(err)
	}
	var found struct {
		Findings []struct{ Kind, Severity, Text string }
	}
	if err := json.Unmarshal(data, &found); err != nil {
		log.Fatal(err)
	}
	for _, f := range found.Findings[:2] {
		fmt.Println(f.Kind, f.Severity)
	}
	var picture bytes.Buffer
	if err := v.Write(&picture, "svg", "dark"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(picture.String()[:4])
	// Output:
	// straggler high
	// late-sender low
	// <svg
}
