package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// discarder drops what is in a pipe without a copy of it.
type discarder struct {
	pipe int
	null *os.File
}

// pipeSize is how much a pipe may hold whose content is dropped, in bytes.
const pipeSize = 1 << 20

func newDiscarder(pipe int) *discarder {
	// Where the user has too many large pipes, a small one has to do.
	_, _ = unix.FcntlInt(uintptr(pipe), unix.F_SETPIPE_SZ, pipeSize)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		null = nil // it is read then
	}
	return &discarder{pipe: pipe, null: null}
}

// discard drops all but the last bytes of what the pipe holds.
func (d *discarder) discard(but int) {
	// Of a pipe this is what waits to be read, which other systems call FIONREAD.
	held, err := unix.IoctlGetInt(d.pipe, unix.TIOCINQ)
	if err != nil || d.null == nil {
		return
	}
	for held > but {
		n, err := unix.Splice(d.pipe, nil, int(d.null.Fd()), nil, held-but, unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
		if err != nil || n <= 0 {
			return
		}
		held -= int(n)
	}
}

func (d *discarder) close() {
	if d.null != nil {
		_ = d.null.Close()
	}
}
