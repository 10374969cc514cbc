package words

import "fmt"

// An EmptyError is the error of a selection that holds nothing to show; the page shows it as an empty state, the
// command line as an error.
type EmptyError struct{ What, Hint string }

func (e *EmptyError) Error() string {
	if e.Hint != "" {
		return e.What + "; " + e.Hint
	}
	return e.What
}

// Empty makes an EmptyError.
func Empty(hint, format string, args ...any) error {
	return &EmptyError{What: fmt.Sprintf(format, args...), Hint: hint}
}
