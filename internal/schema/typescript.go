package schema

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"reflect"
	"strings"
	"time"
)

// A TypeScript writes Go types as TypeScript interfaces, for the page. Names of fields follow their json tags; a
// tag `ts:"…"` gives a narrower type than Go has. Comments of types and fields are those of the Go source.
type TypeScript struct {
	// Fields lists the members of a struct; nil: by json tags, as encoding/json writes them.
	Fields func(reflect.Type) []Member

	names    map[reflect.Type]string
	comments map[string]string // by package.Type and package.Type.Field
	out      strings.Builder
}

// A Member is a field as the page sees it.
type Member struct {
	Name     string
	Type     reflect.Type
	As       string // TypeScript's type; "": that of Type
	Optional bool   // it may be left out
	Field    string // the Go field, whose comment it has
}

// NewTypeScript reads the comments of packages by their directories.
func NewTypeScript(dirs ...string) (*TypeScript, error) {
	t := &TypeScript{names: map[reflect.Type]string{}, comments: map[string]string{}}
	for _, dir := range dirs {
		if err := t.readComments(dir); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Name sets a type's name on the page; types without one are written in place.
func (t *TypeScript) Name(of any, name string) { t.names[reflect.TypeOf(of)] = name }

// Interface writes a named type. The lines of first come before its fields.
func (t *TypeScript) Interface(of any, first ...string) {
	typ := reflect.TypeOf(of)
	t.comment("", strings.ReplaceAll(t.comments[commentKey(typ, "")], typ.Name(), t.names[typ]))
	fmt.Fprintf(&t.out, "export interface %s {\n", t.names[typ])
	for _, line := range first {
		fmt.Fprintf(&t.out, "  %s\n", line)
	}
	for _, m := range t.members(typ) {
		t.comment("  ", t.comments[commentKey(typ, m.Field)])
		fmt.Fprintf(&t.out, "  %s;\n", t.member(m))
	}
	t.out.WriteString("}\n\n")
}

// String returns all that was written.
func (t *TypeScript) String() string { return strings.TrimRight(t.out.String(), "\n") + "\n" }

func (t *TypeScript) member(m Member) string {
	as := m.As
	if as == "" {
		as = t.typeOf(m.Type, m.Optional)
	}
	if m.Optional {
		return m.Name + "?: " + as
	}
	return m.Name + ": " + as
}

func (t *TypeScript) members(typ reflect.Type) []Member {
	if t.Fields != nil {
		if list := t.Fields(typ); list != nil {
			return list
		}
	}
	return jsonMembers(typ)
}

// jsonMembers lists fields as encoding/json writes them.
func jsonMembers(typ reflect.Type) (out []Member) {
	for _, f := range reflect.VisibleFields(typ) {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		out = append(out, Member{name, f.Type, f.Tag.Get("ts"), strings.Contains(rest, "omitempty"), f.Name})
	}
	return out
}

var jsonMarshaler = reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }]()

// typeOf returns TypeScript's type of a Go type as JSON. A pointer that is left out if it is nil is never null.
func (t *TypeScript) typeOf(typ reflect.Type, optional bool) string {
	if name, ok := t.names[typ]; ok {
		return name
	}
	if typ == reflect.TypeFor[time.Time]() {
		return "string"
	}
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Pointer:
		if optional {
			return t.typeOf(typ.Elem(), false)
		}
		return t.typeOf(typ.Elem(), false) + " | null"
	case reflect.Slice:
		return listOf(t.typeOf(typ.Elem(), false))
	case reflect.Array:
		if typ.Len() > 2 {
			return listOf(t.typeOf(typ.Elem(), false))
		}
		return "[" + strings.TrimSuffix(strings.Repeat(t.typeOf(typ.Elem(), false)+", ", typ.Len()), ", ") + "]"
	case reflect.Map:
		return "Record<string, " + t.typeOf(typ.Elem(), false) + ">"
	case reflect.Interface:
		return "unknown"
	case reflect.Struct:
		if typ.Implements(jsonMarshaler) {
			return "number"
		}
		var parts []string
		for _, m := range t.members(typ) {
			parts = append(parts, t.member(m))
		}
		return "{ " + strings.Join(parts, "; ") + " }"
	}
	return "number"
}

func listOf(element string) string {
	if strings.Contains(element, " | ") {
		return "(" + element + ")[]"
	}
	return element + "[]"
}

func (t *TypeScript) comment(indent, text string) {
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		fmt.Fprintf(&t.out, "%s/** %s */\n", indent, lines[0])
		return
	}
	fmt.Fprintf(&t.out, "%s/**\n", indent)
	for _, line := range lines {
		fmt.Fprintf(&t.out, "%s * %s\n", indent, line)
	}
	fmt.Fprintf(&t.out, "%s */\n", indent)
}

func commentKey(typ reflect.Type, field string) string {
	return path.Base(typ.PkgPath()) + "." + typ.Name() + "." + field
}

// readComments takes the comments of the struct types of a package and of their fields.
func (t *TypeScript) readComments(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path.Join(dir, f.Name()), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				t.takeTypes(file.Name.Name, g)
			}
		}
	}
	return nil
}

func (t *TypeScript) takeTypes(pkg string, g *ast.GenDecl) {
	for _, s := range g.Specs {
		spec := s.(*ast.TypeSpec)
		doc := spec.Doc
		if doc == nil {
			doc = g.Doc
		}
		key := pkg + "." + spec.Name.Name + "."
		t.comments[key] = said(doc)
		body, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range body.Fields.List {
			text := said(f.Doc)
			if text == "" {
				text = said(f.Comment)
			}
			for _, n := range f.Names {
				t.comments[key+n.Name] = text
			}
		}
	}
}

func said(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	return strings.TrimSpace(c.Text())
}
