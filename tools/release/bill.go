package main

import (
	"debug/buildinfo"
	"encoding/json"
	"time"
)

// A bill of materials in the form of CycloneDX 1.5: the modules that the linker recorded in
// the binary, so it cannot name others than are inside.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func billOfMaterials(binary string, r *release) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	purl := func(path, version string) string { return "pkg:golang/" + path + "@" + version }
	b := bill{Format: "CycloneDX", Spec: "1.5", Version: 1}
	b.Metadata.Timestamp = r.date.Format(time.RFC3339)
	b.Metadata.Component = component{Type: "application", Name: info.Main.Path, Version: r.version,
		PURL: purl(info.Main.Path, "v"+r.version), Properties: []property{{"vcs.revision", r.commit}}}
	b.Components = []component{{Type: "library", Name: "std", Version: info.GoVersion,
		PURL: purl("std", info.GoVersion)}}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		b.Components = append(b.Components,
			component{Type: "library", Name: d.Path, Version: d.Version, PURL: purl(d.Path, d.Version),
				Properties: []property{{"go.sum", d.Sum}}})
	}
	out, err := json.MarshalIndent(b, "", " ")
	return append(out, '\n'), err
}
