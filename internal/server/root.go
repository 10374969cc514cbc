package server

import (
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// confined returns an error if a source is outside the directories that the server was given.
func (s *Server) confined(source string) error {
	if s.config.Roots == nil || Below(s.config.Roots, source) || s.own(source) {
		return nil
	}
	return &apiError{Status: http.StatusForbidden, Kind: "forbidden",
		Message: quoteShort(withoutPasswords(source)) + " is outside the directories that this server may open",
		Hint:    "start parallax with --root DIR to allow a directory"}
}

// own reports whether the one user of the server has opened a source before.
func (s *Server) own(source string) bool {
	return len(s.config.Tokens) == 0 && s.config.Recent != nil &&
		slices.ContainsFunc(s.config.Recent(), func(r Recent) bool { return r.Source == source })
}

// Below reports whether a source is in one of the directories, links followed, or its address begins with one of the
// addresses. Demos always do.
func Below(roots []string, source string) bool {
	if strings.HasPrefix(source, "demo:") {
		return true
	}
	address := strings.Contains(source, "://")
	for _, root := range roots {
		if strings.Contains(root, "://") {
			if address && strings.HasPrefix(withoutUser(source), strings.TrimSuffix(withoutUser(root), "/")+"/") {
				return true
			}
			continue
		}
		if rel, err := filepath.Rel(real(root), real(source)); !address && err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// real returns a path without links; of one that is not there, that of the directory that is.
func real(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(real(parent), filepath.Base(path))
	}
	return path
}

var userOfAddress = regexp.MustCompile(`://([^/@\s:]*)(:[^/\s]*)?@`)

// withoutPasswords hides passwords of addresses.
func withoutPasswords(text string) string { return userOfAddress.ReplaceAllString(text, "://$1@") }

func withoutUser(address string) string { return userOfAddress.ReplaceAllString(address, "://") }
