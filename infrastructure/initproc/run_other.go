//go:build !unix

package initproc

import "errors"

// Run fails: the first process of this system reaps orphans.
func Run([]string, []string) (code int, err error) {
	return 0, errors.New("this system has no first process of a container")
}
