package scene

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// A nameList is real names, and what they become in so many characters.
type nameList struct {
	List  string              `json:"list"`
	Names []string            `json:"names"`
	Short map[string][]string `json:"short"`
}

// inCharacters shortens as the page does, which counts characters.
func inCharacters(a *Apart, name string, most int) string {
	return a.shorten(name, float32(most), func(s string) (out []cluster) {
		for _, r := range s {
			out = append(out, cluster{string(r), 1})
		}
		return out
	}, 1)
}

// The page shortens the same lists (web/src/shell/apart.test.ts).
func TestNamesOfAListStayApartWhenShortened(t *testing.T) {
	const file = "testdata/apart.json"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lists []nameList
	if err := json.Unmarshal(text, &lists); err != nil {
		t.Fatal(err)
	}
	for i := range lists {
		l := &lists[i]
		a := NewApart(l.Names)
		l.Short = map[string][]string{}
		for _, width := range []struct {
			key  string
			most int
		}{{"12", 12}, {"16", 16}, {"24", 24}, {"40", 40}} {
			of := map[string]string{}
			for _, name := range l.Names {
				short := inCharacters(a, name, width.most)
				l.Short[width.key] = append(l.Short[width.key], short)
				if other, ok := of[short]; ok && other != name && short != "" {
					t.Errorf("%s: %q and %q are both %q", l.List, other, name, short)
				}
				of[short] = name
				if utf8.RuneCountInString(short) > width.most {
					t.Errorf("%s: %q is longer than %d", l.List, short, width.most)
				}
				if short == "" && width.most >= 24 {
					t.Errorf("%s: %q has no form in %d characters", l.List, name, width.most)
				}
			}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(lists); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b.Bytes(), text) {
		t.Errorf("%s is not what the names become; run the test with -update and read the difference", file)
	}
}

// A form that could be another name of the list is none, also where that one is written whole.
func TestAShortenedNameCannotBeReadAsAnother(t *testing.T) {
	names := []string{"MPI_Allreduce", "MPI_Reduce", "MPI_Send"}
	for width := float32(50); width < 100; width++ {
		short := Distinct(names, width, TextSize)
		if short[0] == "MPI_…duce" || short[0] == "MPI_…educe" {
			t.Errorf("%g wide: %q could be MPI_Reduce", width, short[0])
		}
	}
	ranks := NewApart([]string{"rank-5", "rank-21", "rank-37", "rank-101"})
	for width := float32(24); width < 60; width++ {
		if got := ranks.Shorten("rank-21", width, TextSize); !strings.HasSuffix(got, "21") {
			t.Errorf("%g wide: rank-21 reads %q", width, got)
		}
	}
	machines := NewApart([]string{"s39c1b12", "s39c1b2"})
	for width := float32(8); width < 60; width++ {
		if got := machines.Shorten("s39c1b12", width, TextSize); got == "12" {
			t.Errorf("%g wide: a machine reads as rank 12", width)
		}
	}
}

func TestAnOperatorKeepsItsNameBeforeItsShapes(t *testing.T) {
	names := []string{"aten::cudnn_convolution [32×64×56×56] [64×64×3×3]", "aten::cudnn_convolution [32×256×14×14] [256×256×3×3]", "aten::mm [64×512] [512×512]"}
	a := NewApart(names)
	for most, want := range map[int]string{60: names[0], 24: "cudnn_…lution […×64×3×3]", 30: "cudnn_convolution […64×64×3×3]"} {
		if got := inCharacters(a, names[0], most); got != want {
			t.Errorf("%d characters: %q, want %q", most, got, want)
		}
	}
	sizes := []string{"aten::cudnn_convolution_backward_input [32×1024×14×14] [1024×256×1×1]", "aten::cudnn_batch_norm_backward [32×256×56×56] [256]",
		"aten::cudnn_convolution_backward_input [32×256×14×14] [256×256×3×3]"}
	for i, want := range []string{"cudnn_convolu…_input […×1]", "cudnn_batch_n…backward […]", "cudnn_convolu…_input […×3]"} {
		if got := inCharacters(NewApart(sizes), sizes[i], 26); got != want {
			t.Errorf("26 characters: %q, want %q", got, want)
		}
	}
	if got := inCharacters(a, names[2], 12); got != "aten::mm […]" {
		t.Errorf("shapes give way first: %q", got)
	}
}

func BenchmarkDistinctKernels(b *testing.B) {
	text, err := os.ReadFile("testdata/apart.json")
	if err != nil {
		b.Fatal(err)
	}
	var lists []nameList
	if err := json.Unmarshal(text, &lists); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Distinct(lists[1].Names, 150, TextSize)
	}
}
