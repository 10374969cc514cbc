package server

import (
	"net/http"

	"github.com/parallax-hpc/parallax/internal/view"
)

// sessionJSON answers GET /api/session.
type sessionJSON struct {
	Version     string `json:"version"`
	Remote      bool   `json:"remote"`                // The server was told that the line is slow (`--remote`).
	Theme       string `json:"theme" ts:"Theme | ''"` // The theme of the command line; "" leaves it to the page.
	UploadLimit int64  `json:"uploadLimit"`           // Greatest upload in bytes.
	CanOpen     bool   `json:"canOpen"`               // Files can be opened by path; the page runs on the same disk.
	// The runs were named to be compared: they are opened side by side.
	Beside   bool `json:"beside"`
	ReadOnly bool `json:"readOnly"` // The token only looks: nothing is opened, closed or kept.
}

func (s *Server) session(w http.ResponseWriter, r *http.Request) error {
	c := &s.config
	return s.writeJSON(w, r, http.StatusOK,
		sessionJSON{c.Version, c.Remote, c.Theme, c.UploadLimit, c.Open != nil && !holderOf(r).ReadOnly, c.Beside &&
			len(c.Runs) > 1, holderOf(r).ReadOnly})
}

type tokenJSON struct {
	Token string `json:"token"`
}

// token tells the page its token, for an address to hand on: the cookie that holds it cannot be read by scripts. Like
// all paths it answers only holders of the token.
func (s *Server) token(w http.ResponseWriter, r *http.Request) error {
	return s.writeJSON(w, r, http.StatusOK, tokenJSON{holderOf(r).Value})
}

// viewJSON answers GET /api/views.
type viewJSON struct {
	Name      string        `json:"name"`
	Title     string        `json:"title"`
	Paper     string        `json:"paper"`
	Summary   string        `json:"summary"`
	HowToRead string        `json:"howToRead"`
	Needs     needsJSON     `json:"needs"`
	Runs      int           `json:"runs"` // how many can be shown together
	Options   []view.Option `json:"options"`
	// Examples are texts for an option that is a file.
	Examples []view.Example `json:"examples"`
	// Completions are words of the language of such texts: names, and functions, whose text is a call.
	Completions []view.Example `json:"completions"`
}

type needsJSON struct {
	Intervals   bool `json:"intervals"`
	Links       bool `json:"links"`
	Profile     bool `json:"profile"`
	Hierarchy   bool `json:"hierarchy"`
	Coordinates bool `json:"coordinates"`
	Moments     bool `json:"moments"`  // Recorded moments will do in place of intervals.
	Instants    bool `json:"instants"` // Instants or samples of counters will do in place of intervals.
	Spans       bool `json:"spans"`    // Spans of services, which name their request.
	Devices     bool `json:"devices"`  // Work of GPUs will do in place of spans.
	Places      bool `json:"places"`   // Regions that name their source file.
	Rows        bool `json:"rows"`     // Rows that are busy at recorded times: samples alone will not do.
}

func (s *Server) views(w http.ResponseWriter, r *http.Request) error {
	out := []viewJSON{}
	for _, v := range s.config.Views {
		out = append(out,
			viewJSON{v.Name, v.Title, v.Paper, v.Summary, v.HowToRead, needsJSON(v.Needs), max(v.Runs, 1),
				append([]view.Option{}, v.Options...), append([]view.Example{}, v.Examples...),
				append([]view.Example{}, v.Completions...)})
	}
	return s.writeJSON(w, r, http.StatusOK, out)
}

// formatJSON answers GET /api/formats.
type formatJSON struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Reads  bool   `json:"reads"` // false: recognised only, see advice.
	Advice string `json:"advice"`
}

func (s *Server) formatList() []formatJSON {
	out := []formatJSON{}
	for _, f := range s.config.Formats {
		out = append(out, formatJSON{f.Name, f.Title, f.Import != nil, f.Advice})
	}
	return out
}

func (s *Server) formats(w http.ResponseWriter, r *http.Request) error {
	return s.writeJSON(w, r, http.StatusOK, s.formatList())
}

// homeJSON answers GET /api/home.
type homeJSON struct {
	Recent  []Recent     `json:"recent"`
	Demos   []Demo       `json:"demos"`
	Formats []formatJSON `json:"formats"`
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	out := homeJSON{Recent: []Recent{}, Demos: append([]Demo{}, s.config.Demos...), Formats: s.formatList()}
	if s.config.Recent != nil && !holderOf(r).ReadOnly {
		for _, x := range s.config.Recent() {
			if s.confined(x.Source) == nil {
				out.Recent = append(out.Recent, x)
			}
		}
	}
	return s.writeJSON(w, r, http.StatusOK, out)
}

func (s *Server) listRuns(w http.ResponseWriter, r *http.Request) error {
	return s.writeJSON(w, r, http.StatusOK, s.states(holderOf(r)))
}

func (s *Server) closeRun(w http.ResponseWriter, r *http.Request) error {
	if err := s.runs.close(holderOf(r), r.PathValue("run")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// info answers with the output of `parallax info --json`; it is computed once per run.
func (s *runPages) info(w http.ResponseWriter, r *http.Request, x *run) error {
	body, err := s.cachedJSON(r.Context(), x, "info", func(c *computation) (any, error) {
		return view.InfoOf(c.ctx, x.Store)
	})
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, "application/json", body)
}
