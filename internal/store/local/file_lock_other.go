//go:build !windows && (!unix || aix || solaris)

package local

import (
	"errors"
	"os"
)

// tryLock cannot tell who is alive: nothing is taken for left behind.
func tryLock(*os.File) error { return errors.ErrUnsupported }
