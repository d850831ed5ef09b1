// Package worker holds workers: programs of users that dial out, say what they can, and run jobs (docs/workers).
package worker

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Status is what a worker's row says of it.
type Status string

// The states of a worker. That it may be gone is not stored, see Suspect.
const (
	Up Status = "UP"
	// Draining: it gets no new runs, by its own wish or by that of an operator.
	Draining Status = "DRAINING"
	// Down: it has left, or its lease was over. Its next registration begins a new life.
	Down Status = "DOWN"
)

// Statuses lists the states.
func Statuses() []Status { return []Status{Up, Draining, Down} }

// Worker is a program that runs jobs. Each life of it has an epoch of its own, which guards every write of a former one
// (engine rule 26).
type Worker struct {
	// ID is that of group and instance, see ID.
	ID       string
	Group    string
	Instance string
	// Boot names the process. A registration that is repeated by one process does not begin a new life.
	Boot   string
	Epoch  int64
	Status Status
	// Slots is how many runs of each kind it takes at once; Running how many it has, by its latest beat.
	Slots   entity.Slots
	Running entity.Slots
	Weight  int
	Labels  map[string]string
	// Handlers are their names, sorted.
	Handlers []string
	// SDK, Runtime and Version say what it is made of, Host and PID where it runs, in its own words.
	SDK     string
	Runtime string
	Version string
	Host    string
	PID     int64
	// Gateway is the node that stored its latest beat.
	Gateway string
	// Beat is how often it calls at least. Its lease is over so long after its latest stored beat.
	Beat     time.Duration
	Lease    time.Duration
	LastBeat time.Time
	// Former says which runs are owed an end.
	Former Former
	// CreateTime is of the row, BeginTime of this life.
	CreateTime time.Time
	BeginTime  time.Time
	UpdateTime time.Time
	// Unreadable says what of the stored row cannot be read; empty is nothing.
	Unreadable string
}

// Former says that the runs of an epoch, and of those before it, are over from a moment on. The zero value owes
// nothing.
type Former struct {
	Epoch int64
	Until time.Time
}

// LeaseUntil is when its lease is over, by the store's clock.
func (w *Worker) LeaseUntil() time.Time { return w.LastBeat.Add(w.Lease) }

// Offers reports whether it has the handler.
func (w *Worker) Offers(handler string) bool {
	_, ok := slices.BinarySearch(w.Handlers, handler)
	return ok
}

// suspectBeats is how many beats a worker may miss before it may be gone.
const suspectBeats = 2

// Suspect reports whether the worker may be gone: it has not been heard of for over two beats.
func (w *Worker) Suspect(now time.Time) bool {
	return w.Status != Down && now.Sub(w.LastBeat) > suspectBeats*w.Beat
}

// The bounds of what a worker says of itself.
const (
	// MaxGroup is the longest name of a worker group, in bytes; so is an id with one no longer than ids may be.
	MaxGroup = bounds.WorkerGroup
	// MaxChoice is the most workers of a group among which a strategy chooses, and that a broadcast reaches: their rows
	// are read for it, and a broadcast writes a run for each in one transaction.
	MaxChoice = 1000
	// MaxInstance is the longest name of an instance, in characters; MaxBoot and MaxNote are those of the boot id and of
	// each text for people.
	MaxInstance = 100
	MaxBoot     = 64
	MaxNote     = 100
	// MaxHandlers bounds the names of its handlers together, each with one byte more, in bytes.
	MaxHandlers = 64 << 10
	// MaxSlots is the most slots of each kind.
	MaxSlots = 1000
)

// hashLen is how many characters of an id are of the hash: 65 bits of SHA-256.
const hashLen = 13

// hashLetters are those of the hash: digits and letters that nobody mistakes for one another.
const hashLetters = "0123456789abcdefghjkmnpqrstvwxyz"

// ID is that of the instance of a worker group. It stays over restarts, so that routing by id keeps its choice.
func ID(group, instance string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(group), group, instance))
	text := base32.NewEncoding(hashLetters).WithPadding(base32.NoPadding).EncodeToString(sum[:])
	return entity.WorkerMark + group + "." + text[:hashLen]
}

// IsID reports whether an id is that of a worker, and not of a node.
func IsID(id string) bool { return strings.HasPrefix(id, entity.WorkerMark) }

// GroupOf is the worker group in the id of a worker; empty for other ids.
func GroupOf(id string) string {
	at := strings.LastIndexByte(id, '.')
	if !IsID(id) || at < 0 {
		return ""
	}
	return id[len(entity.WorkerMark):at]
}

// HandlersHash names a sorted list of handlers; never empty.
func HandlersHash(handlers []string) string {
	sum := sha256.Sum256([]byte(strings.Join(handlers, "\n")))
	return hex.EncodeToString(sum[:16])
}
