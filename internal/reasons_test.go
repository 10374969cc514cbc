package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Words of a reason that say that something is not kept, or only repeats stored data.
var (
	notKept = regexp.MustCompile(`read up to there|\b(?:break off|cut off|left out|not read|dropped|ignored|skipped|passed over)\b`)
	repeats = regexp.MustCompile(`\b(?:repeats?|duplicates?|twice|listed already|computed from others|computed anew)\b`)
	maybe   = regexp.MustCompile(`may be cut|cut off, or|kept`)
)

// Every reason that the import report can give has a kind that fits its words: what is left out has a consequence, and
// what only repeats is no loss.
func TestReasonsForLeavingOutHaveConsequences(t *testing.T) {
	reasons := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "testing") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			kind, what := reasonOf(n)
			if kind == "" || what == "" {
				return true
			}
			reasons++
			kept := kind == "Repaired" || kind == "Guessed"
			if kept && notKept.MatchString(what) && !maybe.MatchString(what) {
				t.Errorf("%s: %s %q tells no consequence", files.Position(n.Pos()), kind, what)
			}
			if kind != "Redundant" && !kept && repeats.MatchString(what) {
				t.Errorf("%s: %s %q only repeats, which is trace.Redundant", files.Position(n.Pos()), kind, what)
			}
			return true
		})
		return nil
	})
	if err != nil || reasons < 300 {
		t.Errorf("%d reasons, %v", reasons, err)
	}
	for k := trace.Redundant; k.Valid(); k++ {
		if k.Consequence() == "" {
			t.Errorf("kind %d has no consequence", k)
		}
	}
}

// reasonOf is the kind and the words of a call or literal that gives a reason; "" for any other node.
func reasonOf(n ast.Node) (kind, what string) {
	var list []ast.Expr
	switch n := n.(type) {
	case *ast.CallExpr:
		list = n.Args
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && isPackage(f.X, "importer") {
			kind = f.Sel.Name
		}
	case *ast.CompositeLit:
		list = n.Elts
	}
	if kind != "Repaired" && kind != "Guessed" && kind != "Redundant" {
		kind = ""
	}
	for _, e := range list {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if s, ok := e.(*ast.SelectorExpr); ok && isPackage(s.X, "trace") &&
			(strings.HasPrefix(s.Sel.Name, "Missing") || s.Sel.Name == "Repaired" || s.Sel.Name == "Guessed" || s.Sel.Name == "Redundant") {
			kind = s.Sel.Name
		} else if kind != "" && what == "" {
			what = textOf(e)
		}
	}
	return kind, what
}

func isPackage(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// textOf is a text of literals, put together; what is computed is left out.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value)
			return s
		}
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	case *ast.CallExpr:
		if len(e.Args) > 0 && reflect.TypeOf(e.Args[0]) == reflect.TypeFor[*ast.BasicLit]() {
			return textOf(e.Args[0])
		}
	}
	return ""
}
