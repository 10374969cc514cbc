package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/render/wire"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A viewPages answers about a view: scene, data, table, the item at a point, files.
type viewPages struct {
	computer

	panels *panels
}

// viewOf answers one of the things that come from a result of a view.
func (s *viewPages) viewOf(what string) func(http.ResponseWriter, *http.Request, *run) error {
	answer := map[string]func(http.ResponseWriter, *http.Request, *viewRequest) error{
		"scene": s.scene, "data": s.data, "table": s.table, "pick": s.pick, "export": s.export,
		"check": s.check,
	}[what]
	return func(w http.ResponseWriter, r *http.Request, x *run) error {
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return usage(err)
		}
		q, err := s.parseView(values, x, r.PathValue("view"))
		if err != nil {
			return err
		}
		release, err := s.withRuns(holderOf(r), q, values["with"], values.Get("colours-of"))
		defer release()
		if err != nil {
			return err
		}
		ctx, leave, err := s.panels.enter(r, what)
		if err != nil {
			return err
		}
		defer leave()
		// A newer request of the panel ends ctx; the client is still there and gets
		// the cause, which r's own context would hide.
		err = answer(w, r.WithContext(ctx), q)
		if err != nil && r.Context().Err() == nil && ctx.Err() != nil {
			s.fail(w, r, errSuperseded)
			return nil
		}
		return err
	}
}

func (s *viewPages) noSuchAnswer(_ http.ResponseWriter, r *http.Request, _ *run) error {
	return &apiError{Status: http.StatusNotFound, Kind: "not-found",
		Message: "there is no " + quoteShort(r.PathValue("what")) + " of a view",
		Hint:    "want scene, data, table, pick or export"}
}

func (s *viewPages) scene(w http.ResponseWriter, r *http.Request, q *viewRequest) error {
	ctx := r.Context()
	e, res, err := s.compute(ctx, q)
	var empty *view.EmptyError
	if errors.As(err, &empty) {
		// For the page an empty selection is an answer, not a fault.
		body,
			err := wire.Encode(&scene.Scene{Width: float64(q.size.Width), Height: float64(q.size.Height)},
			wire.Extra{Empty: &wire.Empty{What: empty.What, Hint: empty.Hint}})
		if err != nil {
			return err
		}
		return s.write(w, r, http.StatusOK, wire.ContentType, body)
	}
	if err != nil {
		return err
	}
	coarse, _ := strconv.ParseBool(r.URL.Query().Get("coarse"))
	have := r.URL.Query()["have"]
	if len(have) > maxPatterns {
		return tooMany("have", len(have))
	}
	var body []byte
	err = s.use(ctx, e, res, ofPicture, func() (err error) { body, err = res.encode(coarse, have); return })
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, wire.ContentType, body)
}

func (s *viewPages) data(w http.ResponseWriter, r *http.Request, q *viewRequest) error {
	body, err := s.twin(r, q)
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, "application/json", body)
}

// twin returns the view as JSON, the same bytes as `parallax view -o x.json` writes.
func (s *viewPages) twin(r *http.Request, q *viewRequest) ([]byte, error) {
	e, res, err := s.compute(r.Context(), q)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = s.use(r.Context(), e, res, ofTwin, func() error {
		return view.TwinOf(res.view, res.request, res.value).WriteJSON(&b)
	})
	return b.Bytes(), err
}

// checkJSON answers GET …/views/{view}/check.
type checkJSON struct {
	Title string `json:"title"` // Of the view.
}

// check reports errors in a request before it is computed.
func (s *viewPages) check(w http.ResponseWriter, r *http.Request, q *viewRequest) error {
	if _, err := q.request(); err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, checkJSON{q.view.Title})
}

// pickJSON answers GET …/views/{view}/pick?item= or ?x=&y=.
type pickJSON struct {
	Fact *view.Fact `json:"fact"` // Null: nothing there.
}

// pick describes the item at a place of the scene, as the view answers.
func (s *viewPages) pick(w http.ResponseWriter, r *http.Request, q *viewRequest) error {
	at, item := [2]float64{}, -1
	if text := r.URL.Query().Get("item"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return usage(fmt.Errorf("item %s: want the index of a thing", quoteShort(text)))
		}
		item = n
	}
	for i, key := range []string{"x", "y"} {
		if item >= 0 {
			break // known by its index, wherever it is
		}
		f, err := strconv.ParseFloat(r.URL.Query().Get(key), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return usage(fmt.Errorf("%s %s: want pixels of the scene", key, quoteShort(r.URL.Query().Get(key))))
		}
		at[i] = f
	}
	e, res, err := s.compute(r.Context(), q)
	var empty *view.EmptyError
	if errors.As(err, &empty) {
		return s.writeJSON(w, r, http.StatusOK, pickJSON{})
	}
	if err != nil {
		return err
	}
	var out pickJSON
	err = s.use(r.Context(), e, res, ofPicture, func() error {
		f, ok, err := res.pick(at, item)
		if ok {
			if f.Lines == nil {
				f.Lines = []view.FactLine{}
			}
			out.Fact = &f
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, out)
}

// export answers with a file to save.
func (s *viewPages) export(w http.ResponseWriter, r *http.Request, q *viewRequest) error {
	format := r.URL.Query().Get("format")
	typed := r.URL.Query().Get("theme")
	theme, ok := scene.ParseTheme(typed)
	if typed != "" && !ok {
		return usage(words.NotOneOf("theme", typed, "light", "dark"))
	}
	// hues was its name in the release before.
	if hues := cmp.Or(r.URL.Query().Get("region-colours"), r.URL.Query().Get("hues")); hues != "" {
		if theme, ok = theme.With(hues); !ok {
			return usage(words.NotOneOf("region-colours", hues, scene.Hues...))
		}
	}
	body, contentType, err := s.file(r, q, format, theme)
	if err != nil {
		return err
	}
	name := q.runs[0].id + "-" + q.view.Name + "." + format
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	return s.write(w, r, http.StatusOK, contentType, body)
}

func (s *viewPages) file(r *http.Request, q *viewRequest, format string, theme scene.Theme) (body []byte,
	contentType string, err error) {
	if format == "json" {
		body, err = s.twin(r, q)
		return body, "application/json", err
	}
	write := s.config.Export[format]
	if format != "csv" && write == nil {
		return nil, "", usage(words.NotOneOf("format", format, s.exportNames()...))
	}
	var size *scene.Picture
	if text := r.URL.Query().Get("size"); text != "" && format != "csv" {
		p, err := scene.ParsePicture(text)
		if err != nil {
			return nil, "", usage(fmt.Errorf("size %s: %w", quoteShort(text), err))
		}
		size, q.size = &p, p.Size()
		if q.size.Width*q.size.Height > maxPixels {
			return nil, "",
				usage(fmt.Errorf("size %s: want at most %d million pixels", quoteShort(text), maxPixels>>20))
		}
	}
	e, res, err := s.compute(r.Context(), q)
	if err != nil {
		return nil, "", err
	}
	what := ofPicture
	if format == "csv" {
		what = ofTable
	}
	var b bytes.Buffer
	err = s.use(r.Context(), e, res, what, func() error {
		if format == "csv" {
			return res.rows().WriteSpreadsheet(&b) // who downloads a table opens it in one
		}
		return write(&b, res.withTitleAndLegend(size, r.URL.Query().Get("letter"), theme), theme)
	})
	return b.Bytes(), exportTypes[format], err
}

var exportTypes = map[string]string{"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf",
	"jpg": "image/jpeg", "csv": "text/csv; charset=utf-8"}

func (s *viewPages) exportNames() (names []string) {
	for _, f := range []string{"svg", "png", "pdf", "jpg"} {
		if s.config.Export[f] != nil {
			names = append(names, f)
		}
	}
	return append(names, "csv", "json")
}
