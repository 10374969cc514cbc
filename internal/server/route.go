package server

import (
	"net/http"
	"strings"

	"github.com/parallax-hpc/parallax/internal/view"
)

// A route is a path of the API: its handler, and its description in /api/openapi.json.
type route struct {
	pattern string // as http.ServeMux reads it, with the method
	says    string
	query   []parameter
	body    any // of a request, one value of its type; nil: none
	answer  any // one value of its type; nil: no JSON, see content
	content string
	status  int // of a good answer; 0: 200
	handle  func(http.ResponseWriter, *http.Request) error
}

// A parameter is behind the question mark.
type parameter struct {
	name, kind, says string
	list             bool // may be given several times
}

var selectionParameters = []parameter{
	{name: "from", kind: "string", says: "start of the time: 1.5s, 30% or nanoseconds"},
	{name: "to", kind: "string", says: "end of the time, not included"},
	{name: "locations", kind: "string", says: "glob on the path, re:EXPRESSION, #ID, rank:0-3, kind:WORD", list: true},
	{name: "regions", kind: "string", says: "glob on the name, re:EXPRESSION, #ID, role:WORD, category:WORD",
		list: true},
}

var viewParameters = append([]parameter{
	{name: "width", kind: "integer", says: "of the picture, in pixels"},
	{name: "height", kind: "integer", says: "of the picture, in pixels"},
	{name: "with", kind: "string", says: "a further run to compare with", list: true},
	{name: "colours-of", kind: "string", says: "another run: regions have the colours that they have there"},
	{name: "panel", kind: "string", says: "id of the panel: a later request of the same panel cancels this one"},
	{name: "seq", kind: "integer", says: "the number of the request in its panel"},
}, selectionParameters...)

// routes lists all paths of the API; docs/api.md describes them.
func (s *Server) routes() []route {
	const ofRun, ofView = "/api/runs/{run}", "/api/runs/{run}/views/{view}"
	states := []runState{}
	view := func(what string, query []parameter, answer any, content, says string) route {
		return route{pattern: "GET " + ofView + "/" + what, says: says, query: append(query, viewParameters...),
			answer: answer, content: content, handle: s.onRun(s.viewOf(what))}
	}
	return []route{
		{pattern: "GET /api/openapi.json", says: "this document", content: "application/json", handle: s.openAPI},
		{pattern: "GET /api/session", says: "version, rights and options of this server", answer: sessionJSON{},
			handle: s.session},
		{pattern: "GET /api/token", says: "the token, for an address to share", answer: tokenJSON{}, handle: s.token},
		{pattern: "POST /api/share", says: "a read-only token to share, valid for a week", answer: shareJSON{},
			handle: s.share},
		{pattern: "GET /api/views", says: "the views with their options", answer: []viewJSON{}, handle: s.views},
		{pattern: "GET /api/formats", says: "the formats, read or only recognised", answer: []formatJSON{},
			handle: s.formats},
		{pattern: "GET /api/home", says: "demos, and files that were opened recently", answer: homeJSON{},
			handle: s.home},
		{pattern: "GET /api/runs", says: "the runs, with how far their import is", answer: states, handle: s.listRuns},
		{pattern: "POST /api/runs", says: "open sources, or the files of a batch of uploads", body: openRequest{},
			answer: states, status: http.StatusAccepted, handle: s.openRuns},
		{pattern: "POST /api/frame", says: "let a page of this machine show ours in a frame", body: frameRequest{},
			answer: frameJSON{}, handle: s.frame},
		{pattern: "POST /api/upload", says: "the body is a file, which is opened; with batch it waits for others",
			content: "application/json", status: http.StatusAccepted, handle: s.upload,
			query: []parameter{{name: "name", kind: "string", says: "of the file, with folders"},
				{name: "batch", kind: "string", says: "the id of files that belong together"}}},
		{pattern: "DELETE " + ofRun, says: "close a run", status: http.StatusNoContent, handle: s.closeRun},
		{pattern: "GET " + ofRun + "/info", says: "content of a run: numbers, regions, report", answer: infoAnswer,
			handle: s.onRun(s.info)},
		{pattern: "GET " + ofRun + "/locations", says: "children of a location, or the top", answer: locationPage{},
			handle: s.onRun(s.locations),
			query: []parameter{{name: "parent", kind: "integer", says: "id of the location; none: the top"},
				{name: "offset", kind: "integer", says: "of the first"},
				{name: "limit", kind: "integer", says: "largest number returned"}}},
		{pattern: "GET " + ofRun + "/places", says: "places of locations in the tree", query: selectionParameters[2:3],
			answer: placesAnswer{}, handle: s.onRun(s.places)},
		{pattern: "GET " + ofRun + "/moved", says: "the present ids for those of an earlier generation of a live run",
			answer: movedAnswer{}, handle: s.onRun(s.moved),
			query: []parameter{{name: "from", kind: "string", says: "the generation that the ids are of"},
				{name: "locations", kind: "string", says: "ids, with commas between them"},
				{name: "regions", kind: "string", says: "ids, with commas between them"}}},
		{pattern: "GET " + ofRun + "/regions", says: "all regions by id", answer: []regionRow{},
			handle: s.onRun(s.regions)},
		{pattern: "GET " + ofRun + "/bindings", says: "names that events of a layout can be bound to",
			answer: bindingsJSON{}, handle: s.onRun(s.bindings)},
		{pattern: "GET " + ofRun + "/search", says: "locations and regions by name", answer: searchJSON{},
			handle: s.onRun(s.search),
			query: []parameter{{name: "q", kind: "string", says: "a part of the name; a number finds a rank"},
				{name: "limit", kind: "integer", says: "largest number returned"}}},
		{pattern: "GET " + ofRun + "/intervals",
			says:   "intervals by words: names, key=value, ids, durations such as >5ms; all must hold",
			answer: intervalsJSON{}, handle: s.onRun(s.intervals),
			query: append([]parameter{{name: "q", kind: "string", says: "the words"},
				{name: "at", kind: "string", says: "hits that begin there or later are named"},
				{name: "before", kind: "boolean", says: "return the last hit before it instead"},
				{name: "limit", kind: "integer", says: "name at most so many"}}, selectionParameters[:3]...)},
		{pattern: "GET " + ofRun + "/causes",
			says: "what led to an interval and what followed from it, by links and calls", answer: causesJSON{},
			handle: s.onRun(s.causes),
			query: []parameter{{name: "location", kind: "integer", says: "id of the location"},
				{name: "lane", kind: "integer", says: "of the location"},
				{name: "row", kind: "integer", says: "of the lane"},
				{name: "limit", kind: "integer", says: "name at most so many links each way"}}},
		{pattern: "GET " + ofRun + "/notes", says: "notes and workspaces that are stored with the run",
			answer: notesJSON{}, handle: s.onRun(s.notes)},
		{pattern: "PUT " + ofRun + "/notes", says: "store these in place of those with the same version",
			body: notesJSON{}, answer: notesJSON{}, handle: s.onRun(s.keepNotes)},
		{pattern: "GET " + ofRun + "/report", says: "findings, pictures and tables in one page", content: "text/html",
			handle: s.onRun(s.report)},
		{pattern: "GET " + ofRun + "/source", says: "the text around a region's place", answer: sourceText{},
			handle: s.onRun(s.source),
			query:  []parameter{{name: "region", kind: "integer", says: "id of the region"}}},
		{pattern: "GET " + ofRun + "/summary", says: "roles and regions of a selection", query: selectionParameters,
			answer: summaryJSON{}, handle: s.onRun(s.summary)},
		{pattern: "POST " + ofRun + "/query",
			says: "SQL, see docs/tables.md; with Accept: " + arrowStream +
				" (; dictionaries=yes for strings once per batch; or …arrow.file, application/vnd.apache.parquet, " +
				"text/csv) " +
				"all rows as they are found; the trailer Parallax-Error has the error that ended them early",
			body:   queryBody{},
			answer: Answer{}, handle: s.onRun(s.query)},
		{pattern: "POST " + ofRun + "/together",
			says: "several scenes, data and summaries in one answer, as they are ready: for each a line of JSON " +
				"{ask, status, bytes, kept} and so many bytes", body: togetherBody{}, content: answersType,
			handle: s.onRun(s.together)},
		view("scene",
			[]parameter{{name: "coarse", kind: "boolean", says: "merge marks smaller than four pixels"},
				{name: "have", kind: "string", says: "the key of a column that need not be sent", list: true}},
			nil, "application/vnd.parallax.scene", "the picture, as marks"),
		view("data", nil, twinAnswer, "", "the numbers; the schema of each view's data is under its own path"),
		view("table",
			[]parameter{{name: "offset", kind: "integer", says: "of the first row"},
				{name: "limit", kind: "integer", says: "at most so many rows"},
				{name: "sort", kind: "string", says: "a column"},
				{name: "descending", kind: "boolean", says: "largest first"}},
			tablePage{}, "", "the numbers as rows"),
		view("check", nil, checkJSON{}, "", "whether the view can be asked so, without computing it"),
		view("pick",
			[]parameter{{name: "item", kind: "integer", says: "of the scene"},
				{name: "x", kind: "number", says: "a place of the scene in pixels"},
				{name: "y", kind: "number", says: "a place of the scene in pixels"}},
			pickJSON{}, "", "what is known of an item of the scene"),
		view("export",
			[]parameter{{name: "format", kind: "string", says: "svg, png, pdf, csv or json"},
				{name: "theme", kind: "string", says: "light or dark"},
				{name: "region-colours", kind: "string", says: "usual, or safe for colour-blind readers"},
				{name: "size", kind: "string",
					says: "of a picture, in place of width and height: 84mm or 174x90mm on paper, 1600xAUTO in pixels"},
				{name: "letter", kind: "string", says: "of the picture among others in a figure"}},
			nil, "application/octet-stream", "a file"),
	}
}

var (
	infoAnswer = view.InfoJSON{}
	twinAnswer = view.Twin{}
)

// methodsOf returns the methods that a path takes, where it takes any.
func (s *runPages) methodsOf(m *http.ServeMux, r *http.Request) string {
	var out []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := m.Handler(other); strings.HasPrefix(pattern, method+" ") {
			out = append(out, method)
		}
	}
	return strings.Join(out, ", ")
}

// newMux answers every route, and says so if there is none.
func (s *Server) newMux() *http.ServeMux {
	m := http.NewServeMux()
	handle := func(pattern string, h func(http.ResponseWriter, *http.Request) error) {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	for _, x := range s.routes() {
		handle(x.pattern, x.handle)
	}
	handle("GET /api/runs/{run}/views/{view}/{what}", s.onRun(s.noSuchAnswer))
	handle("/api/", func(w http.ResponseWriter, r *http.Request) error {
		if other := s.methodsOf(m, r); other != "" {
			w.Header().Set("Allow", other)
			return &apiError{Status: http.StatusMethodNotAllowed, Kind: "usage",
				Message: r.Method + " is not for this path", Hint: "it takes " + other}
		}
		return &apiError{Status: http.StatusNotFound, Kind: "not-found", Message: "there is no such path",
			Hint: "/api/openapi.json lists them"}
	})
	m.Handle("/", ahead(s.runs, s.assets))
	return m
}
