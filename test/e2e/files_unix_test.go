//go:build unix

package e2e_test

import (
	"os"
	"strconv"
	"syscall"
)

// openFiles is the variable that bounds the files of a server, as ulimit -n does.
const openFiles = "PS_E2E_OPEN_FILES"

// fewFiles bounds the files that this process may open, where it is told to.
func fewFiles() {
	n, err := strconv.ParseUint(os.Getenv(openFiles), 10, 64)
	if err != nil {
		return
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
		panic(err)
	}
	_ = os.Unsetenv(openFiles)
}
