package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// discarder drops the content of a pipe without a copy of it.
type discarder struct {
	pipe int
	null *os.File
}

// pipeSize is the size of a pipe whose content is dropped, in bytes.
const pipeSize = 1 << 20

func newDiscarder(pipe int) *discarder {
	// A user with too many large pipes keeps the small one.
	_, _ = unix.FcntlInt(uintptr(pipe), unix.F_SETPIPE_SZ, pipeSize)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		null = nil // it is read then
	}
	return &discarder{pipe: pipe, null: null}
}

// discard drops the content of the pipe, except the last bytes.
func (d *discarder) discard(but int) {
	// For a pipe, this is the number of bytes that can be read; other systems call it FIONREAD.
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
