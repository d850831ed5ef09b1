package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/hostmetrics"
)

// diskInterval is how often a node looks how much room the disk of its store has.
const diskInterval = 10 * time.Second

// A disk has little room when less than a twentieth of it and less than diskLeast is free.
const (
	diskShare = 20
	diskLeast = 1 << 30
)

// room is what a node knows of the room that its store has.
type room struct {
	// read reads the disk of an SQLite store, in bytes; nil for a server, whose disk nobody here sees.
	read func() (used, size uint64)
	// full is the answer of a store that has refused a write lately; see sqldb.Core.Full.
	full func() string
	// little is the trouble that the latest look has found.
	little atomic.Pointer[string]
}

func newRoom(b base, s storage, h *hostmetrics.Host) *room {
	r := &room{full: s.Store.Full}
	if b.cfg.Store.Driver != config.DriverMySQL {
		r.read = h.Disk
	}
	return r
}

// RunOnce is a task: it looks at the disk, outside of Trouble, which must not wait for one that hangs.
func (r *room) RunOnce(context.Context) error {
	used, size := r.read()
	little := ""
	if free := size - used; size > 0 && free < min(size/diskShare, diskLeast) {
		little = fmt.Sprintf("the disk of the data folder has %d MiB of %d MiB left: no fire can be recorded once it is "+
			"full; make room, or shorten retention.*", free>>20, size>>20)
	}
	r.little.Store(&little)
	return nil
}

// Trouble is the part disk. It blocks nothing: a node that cannot write its beat says so itself.
func (r *room) Trouble() (reason string, blocks bool) {
	if answer := r.full(); answer != "" {
		return "the store has no room, so that it refuses to write (" + answer + "); make room on its disk", false
	}
	if little := r.little.Load(); little != nil {
		return *little, false
	}
	return "", false
}
