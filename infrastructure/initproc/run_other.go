//go:build !unix

package initproc

import "errors"

// Run is for systems whose first process reaps orphans.
func Run([]string, []string) (code int, err error) {
	return 0, errors.New("this system has no first process of a container")
}
