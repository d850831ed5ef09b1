package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// kind is one kind of call of the mix.
type kind struct {
	name  string
	share int // of a hundred
	write bool
	do    request
}

// request sends one call; dice chooses what it is about.
type request func(m *mix, ctx context.Context, dice uint64) error

// shares lists every kind as often as its share: 70 reads, 30 writes.
func shares() []*kind {
	var out []*kind
	for _, k := range []*kind{
		{"list jobs", 10, false, read("/jobs")},
		{"list jobs by name", 4, false, read("/jobs?name=bench+77")},
		{"get job", 14, false, readJob("/jobs/%s")},
		{"next fire times", 2, false, readJob("/jobs/%s/next-fire-times?count=5")},
		{"list runs", 8, false, read("/executions")},
		{"list runs of a job", 6, false, readJob("/executions?jobId=%s")},
		{"list failed runs", 4, false, read("/executions?status=FAILED")},
		{"list manual runs", 2, false, read("/executions?trigger=MANUAL")},
		{"get run", 9, false, readRun("/executions/%s")},
		{"logs", 5, false, readRun("/executions/%s/logs")},
		{"fires", 4, false, readJob("/jobs/%s/fires")},
		{"nodes", 2, false, read("/nodes")},
		{"create", 5, true, (*mix).create},
		{"replace", 6, true, (*mix).replace},
		{"pause", 5, true, (*mix).pause},
		{"resume", 4, true, (*mix).resume},
		{"trigger", 6, true, (*mix).trigger},
		{"delete", 4, true, (*mix).drop},
	} {
		for range k.share {
			out = append(out, k)
		}
	}
	return out
}

// Mix is how many of a hundred calls read, and how many write.
func Mix() (reads, writes int) {
	for _, k := range shares() {
		if k.write {
			writes++
		} else {
			reads++
		}
	}
	return reads, writes
}

// target is a job that calls may change, by one of them at a time.
type target struct {
	id, name string
	version  int
	paused   bool
}

// mix is what calls share. Safe for concurrent use.
type mix struct {
	client *client.Client
	// firing are jobs that no call changes.
	firing []string

	mu   sync.Mutex
	free []*target
	runs []string
	made int
}

// acquire picks a job that is, or is not, paused, for one caller alone; any other
// when there is none.
func (m *mix) acquire(dice uint64, paused bool) *target {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.free)
	pick := int(dice % uint64(n))
	for i := range n {
		if at := (pick + i) % n; m.free[at].paused == paused {
			pick = at
			break
		}
	}
	t := m.free[pick]
	m.free[pick] = m.free[n-1]
	m.free = m.free[:n-1]
	return t
}

func (m *mix) release(t *target) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free = append(m.free, t)
}

// seed triggers the first runs, for reads to have some.
func (m *mix) seed(ctx context.Context) error {
	for i := range uint64(20) {
		if err := m.trigger(ctx, i); err != nil {
			return fmt.Errorf("trigger a run: %w", err)
		}
	}
	return nil
}

// read gets an address.
func read(address string) request {
	path, query, _ := strings.Cut(address, "?")
	values, _ := url.ParseQuery(query) // a constant of this file, or an id in one
	return func(m *mix, ctx context.Context, _ uint64) error {
		return m.client.Call(ctx, http.MethodGet, path, values, nil, &json.RawMessage{})
	}
}

// readJob and readRun get an address that names a job or a run.
func readJob(address string) request {
	return func(m *mix, ctx context.Context, dice uint64) error {
		return read(fmt.Sprintf(address, m.firing[dice%uint64(len(m.firing))]))(m, ctx, dice)
	}
}

func readRun(address string) request {
	return func(m *mix, ctx context.Context, dice uint64) error {
		m.mu.Lock()
		id := m.runs[dice%uint64(len(m.runs))]
		m.mu.Unlock()
		return read(fmt.Sprintf(address, id))(m, ctx, dice)
	}
}
