package follow

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
)

// maxLists bounds the lists that a node holds at once. One that a step made has at most 64 KiB, one of the definition
// at most 512 KiB.
const maxLists = 16

// mapOf names a map of a run.
type mapOf struct{ run, step string }

// source is what all items of a map have in common. It never changes within a run.
type source struct {
	flow   *Workflow
	params string
	list   []json.RawMessage
}

// lists keep the sources of maps whose items start, so that a map of 10,000 items reads its list once. Safe for
// concurrent use.
type lists struct {
	mu    sync.Mutex
	known map[mapOf]*list
}

type list struct {
	// turn lets one item read while the others wait.
	turn turns.Turn
	source
	read bool
}

// get is the source of a map. Where nobody has read it, read does; an error is not kept.
func (l *lists) get(ctx context.Context, of mapOf, read func() (source, error)) (source, error) {
	entry := l.entry(of)
	if err := entry.turn.Take(ctx); err != nil {
		return source{}, err
	}
	defer entry.turn.Give()
	if entry.read {
		return entry.source, nil
	}
	found, err := read()
	if err == nil {
		entry.source, entry.read = found, true
	}
	return found, err
}

func (l *lists) entry(of mapOf) *list {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.known[of]; known != nil {
		return known
	}
	if l.known == nil {
		l.known = map[mapOf]*list{}
	}
	for other := range l.known { // any of them: it is read again where it is needed
		if len(l.known) < maxLists {
			break
		}
		delete(l.known, other)
	}
	l.known[of] = &list{turn: turns.NewTurn()}
	return l.known[of]
}
