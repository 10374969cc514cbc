// Package otlpprofiles reads profiles of the OpenTelemetry protocol (ProfilesData of version 1.10, alpha): protocol
// buffers and JSON, as the collector's file exporter writes them.
//
// The format: profiles of scopes of resources, and one dictionary of mappings, locations, functions, links, strings,
// attributes and stacks, which all refer to by number. Entry 0 of each table is empty. Stacks begin with the innermost
// location; several lines of a location are inlined functions, the innermost first.
//
//	host.name, service.name, process.pid   machine and process, of the resource
//	thread.id, thread.name                 thread, of the sample
//	sample type                            metric; values add up, and without values each time counts 1
//	stack, function                        call path and region; an address without function is named by its mapping
//	time of a sample                       instant of its thread; a link to a span gives it span id and trace id
//
// Files of versions before 1.10, whose fields have other numbers, are refused. Periods and attributes of other kinds
// are left out.
package otlpprofiles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// Format is that of OTLP's profiles.
var Format = &importer.Format{Name: "otlp-profiles", Title: "OpenTelemetry profiles (OTLP: JSON, protobuf)",
	Claim: importer.EachFile(isJSON, isMessage), Import: importer.OneFile(read)}

func isJSON(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head[:min(len(head), 100)]), []byte("{")) &&
		bytes.Contains(head, []byte(`"resourceProfiles"`))
}

// isMessage: a dictionary, which the collector writes first, or resources of which the first has profiles.
func isMessage(head []byte) bool {
	number, kind, n := protowire.ConsumeTag(head)
	if n <= 0 || kind != protowire.BytesType || number != 1 && number != 2 {
		return false
	}
	size, k := protowire.ConsumeVarint(head[n:])
	if k <= 0 || size == 0 {
		return false
	}
	body := head[n+k:]
	if uint64(len(body)) > size {
		body = body[:size]
	}
	if number == 2 {
		return isDictionary(body)
	}
	rest := head[n+k+len(body):] // the dictionary must follow
	number, kind, n = protowire.ConsumeTag(rest)
	if n <= 0 || kind != protowire.BytesType || number != 2 {
		return false
	}
	_, k = protowire.ConsumeVarint(rest[n:])
	return k > 0 && isDictionary(rest[n+k:])
}

// isDictionary: entries of its seven tables, of which the very first is empty.
func isDictionary(b []byte) bool {
	m := protobuf.Open(b)
	n := 0
	for ; n < 8 && m.Next(); n++ {
		if m.Kind != protowire.BytesType || m.Number < 1 || m.Number > 7 || n == 0 && len(m.Bytes) > 2 {
			return false
		}
	}
	return n >= 3
}

// largest bounds a file, which is held in memory: the dictionary may come last.
const largest = 2 << 30

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := newConverter(w, label)
	var err error
	if isJSON(run.Source.Head(run.Files[0])) {
		err = c.objects(ctx, in)
	} else {
		err = c.message(ctx, in)
	}
	if failed := c.close(); err == nil {
		err = failed
	}
	if err == nil && c.samples == 0 {
		return importer.Malformed(label, "", "holds no samples")
	}
	return err
}

// objects reads one object, or one a line.
func (c *converter) objects(ctx context.Context, in io.Reader) error {
	d := json.NewDecoder(io.LimitReader(in, largest))
	for {
		var data profilesData
		err := d.Decode(&data)
		var packed *importer.Error
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == io.EOF:
			return nil
		case err != nil && c.samples > 0:
			c.w.Report(trace.MissingRest, "files that break off, read up to there", 1,
				fmt.Sprintf("%s: byte %d", c.label, d.InputOffset()))
			return nil
		case errors.As(err, &packed):
			return packed
		case err != nil:
			return importer.Malformed(c.label, fmt.Sprintf("byte %d", d.InputOffset()), "its JSON cannot be read: %v",
				err)
		}
		c.data(&data)
	}
}

// message reads one message.
func (c *converter) message(ctx context.Context, in io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(in, largest))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	data, older, sound := decode(b)
	if older {
		return &importer.Error{File: c.label, Kind: importer.ErrUnsupported,
			Cause: "these are OpenTelemetry profiles of a version before 1.10, whose fields have other numbers",
			Hint:  "write them anew with a collector of 2026 or later"}
	}
	if !sound || err != nil {
		c.w.Report(trace.Repaired, "messages that cannot be decoded to their end", 1, c.label)
	}
	c.data(data)
	return nil
}
