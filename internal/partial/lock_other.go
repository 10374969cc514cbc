//go:build !windows && (!unix || aix || solaris)

package partial

import (
	"errors"
	"os"
)

// TryLock cannot tell who is alive: nothing is taken for left behind.
func TryLock(*os.File) error { return errors.ErrUnsupported }
