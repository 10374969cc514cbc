package server

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parallax-hpc/parallax/internal/schema"
	"github.com/parallax-hpc/parallax/internal/view"
)

// The API as OpenAPI 3.1, made from the routes and the types that they are answered with.
type (
	openDocument struct {
		OpenAPI    string                               `json:"openapi"`
		Info       openInfo                             `json:"info"`
		Security   []map[string][]string                `json:"security"`
		Paths      map[string]map[string]*openOperation `json:"paths"`
		Components map[string]any                       `json:"components"`
	}
	openInfo struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}
	openOperation struct {
		Summary     string                 `json:"summary"`
		Parameters  []openParameter        `json:"parameters,omitempty"`
		RequestBody *openContent           `json:"requestBody,omitempty"`
		Responses   map[string]openContent `json:"responses"`
	}
	openParameter struct {
		Name        string             `json:"name"`
		In          string             `json:"in"`
		Description string             `json:"description"`
		Required    bool               `json:"required,omitempty"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
	openContent struct {
		Description string               `json:"description,omitempty"`
		Content     map[string]openMedia `json:"content,omitempty"`
	}
	openMedia struct {
		Schema *jsonschema.Schema `json:"schema,omitempty"`
	}
)

func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) error {
	d, err := s.describe()
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, d)
}

// describe writes the document: every route, and under a path of its own the data of each
// view, with its options and its schema.
func (s *Server) describe() (*openDocument, error) {
	wrong, err := schema.Of(apiError{})
	if err != nil {
		return nil, err
	}
	d := &openDocument{
		OpenAPI: "3.1.0",
		Info: openInfo{"Parallax", strconv.Itoa(schema.Version),
			"Runs of parallel programs and views of them. Times are nanoseconds from the start of a run; undefined " +
				"numbers are null, lists never."},
		Security: []map[string][]string{{"token": {}}}, Paths: map[string]map[string]*openOperation{},
		Components: map[string]any{
			"securitySchemes": map[string]any{"token": map[string]string{"type": "http", "scheme": "bearer"}},
			"schemas":         map[string]any{"Error": wrong},
		},
	}
	for _, x := range s.routes() {
		if err := d.add(&x); err != nil {
			return nil, err
		}
	}
	for _, v := range s.config.Views {
		if err := d.addView(v); err != nil {
			return nil, err
		}
	}
	return d, nil
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

func (d *openDocument) add(x *route) error {
	method, path, _ := strings.Cut(x.pattern, " ")
	o := &openOperation{Summary: x.says,
		Responses: map[string]openContent{"default": {"what went wrong",
			jsonOf(&jsonschema.Schema{Ref: "#/components/schemas/Error"})}}}
	for _, m := range inPath.FindAllStringSubmatch(path, -1) {
		o.Parameters = append(o.Parameters,
			openParameter{m[1], "path",
				map[string]string{"run": "its id in /api/runs", "view": "its name in /api/views"}[m[1]], true,
				&jsonschema.Schema{Type: "string"}})
	}
	for _, p := range x.query {
		o.Parameters = append(o.Parameters, p.open())
	}
	if x.body != nil {
		s, err := schema.Of(x.body)
		if err != nil {
			return err
		}
		s.Required = nil // of a request any part may be left out
		o.RequestBody = &openContent{Content: jsonOf(s)}
	}
	good := openContent{Description: x.says}
	if x.answer != nil {
		s, err := schema.Of(x.answer)
		if err != nil {
			return err
		}
		good.Content = jsonOf(s)
	} else if x.content != "" {
		good.Content = map[string]openMedia{x.content: {}}
	}
	status := http.StatusOK
	if x.status != 0 {
		status = x.status
	}
	o.Responses[strconv.Itoa(status)] = good
	if d.Paths[path] == nil {
		d.Paths[path] = map[string]*openOperation{}
	}
	d.Paths[path][strings.ToLower(method)] = o
	return nil
}

// addView gives a view's data a path of its own: its options are parameters, and its answer has a schema.
func (d *openDocument) addView(v *view.View) error {
	data, err := schema.View(v)
	if err != nil {
		return err
	}
	whole, err := schema.Of(view.Twin{})
	if err != nil {
		return err
	}
	whole.Properties["data"] = &jsonschema.Schema{Ref: "#/components/schemas/" + v.Name}
	d.Components["schemas"].(map[string]any)[v.Name] = data
	x := &route{pattern: "GET /api/runs/{run}/views/" + v.Name + "/data", says: v.Summary, query: viewParameters}
	if err := d.add(x); err != nil {
		return err
	}
	o := d.Paths["/api/runs/{run}/views/"+v.Name+"/data"]["get"]
	o.Responses["200"] = openContent{v.Summary, jsonOf(whole)}
	for _, option := range v.Options {
		p := parameter{name: option.Name, kind: optionKinds[option.Kind], says: option.Help,
			list: option.Kind == "patterns"}.open()
		if len(option.Choices) > 0 && !option.Open {
			for _, c := range option.Choices {
				p.Schema.Enum = append(p.Schema.Enum, c)
			}
		}
		o.Parameters = append(o.Parameters, p)
	}
	return nil
}

var optionKinds = map[string]string{"integer": "integer", "number": "number", "switch": "boolean"} // others are texts

func (p parameter) open() openParameter {
	kind := p.kind
	if kind == "" {
		kind = "string"
	}
	s := &jsonschema.Schema{Type: kind}
	if p.list {
		s = &jsonschema.Schema{Type: "array", Items: s}
	}
	return openParameter{Name: p.name, In: "query", Description: p.says, Schema: s}
}

func jsonOf(s *jsonschema.Schema) map[string]openMedia {
	return map[string]openMedia{"application/json": {s}}
}
