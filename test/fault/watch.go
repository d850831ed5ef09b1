package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// maximalEach is how long it is between two pairs of maximal definitions.
const maximalEach = 15 * time.Second

// The bounds of what is kept.
const (
	maxLooks   = 4000
	looksATime = 8
)

// watch calls the API of all nodes and looks at the processes while they are
// disturbed.
type watch struct {
	rig    *rig.Rig
	client *crash.Client
	hand   *crash.Hand
	most   *crash.Maximal

	mu    sync.Mutex
	looks []history.Row
	// unexplained wait and do not say for what.
	unexplained []history.Row
	answers     []history.Reply
	sights      []history.Member
	holdings    []history.Holding
}

// run watches until ctx ends.
func (w *watch) run(ctx context.Context) {
	var wg sync.WaitGroup
	for name, duty := range map[string]struct {
		every time.Duration
		call  func(ctx context.Context, c *crash.Client) error
	}{
		"trigger": {150 * time.Millisecond, func(ctx context.Context, c *crash.Client) error {
			return w.hand.Press(ctx, c)
		}},
		"read runs":  {400 * time.Millisecond, w.look},
		"read nodes": {700 * time.Millisecond, w.sight},
		"read config": {900 * time.Millisecond, func(ctx context.Context, c *crash.Client) error {
			_, err := c.Job(ctx, w.hand.Job)
			return err
		}},
	} {
		wg.Go(func() {
			for rig.Sleep(ctx, duty.every) {
				w.ask(ctx, name, duty.call)
			}
		})
	}
	wg.Go(func() {
		if w.rig.Former != "" { // former programs do not know all fields
			return
		}
		for begun := time.Now(); rig.Sleep(ctx, again); {
			if w.most.Busy() || time.Since(begun) > maximalEach {
				if !w.most.Busy() {
					begun = time.Now()
				}
				w.ask(ctx, "store a maximal job", w.most.Press)
			}
		}
	})
	wg.Go(func() {
		for rig.Sleep(ctx, time.Second) {
			w.hold()
		}
	})
	wg.Wait()
}

// ask makes one call of a node that is not known to be silent.
func (w *watch) ask(ctx context.Context, what string, call func(ctx context.Context, c *crash.Client) error) {
	m := w.rig.Members[rand.IntN(len(w.rig.Members))] //nolint:gosec // any node will do
	if !m.Up() {
		return
	}
	r := history.Reply{Node: m.ID, What: what, Status: 200, At: time.Now()}
	err := call(ctx, w.client.At(m.Base()))
	if ctx.Err() != nil {
		return
	}
	r.Took = time.Since(r.At)
	if err != nil {
		r.Status, r.Detail = 0, err.Error()
		var refused *crash.StatusError
		if errors.As(err, &refused) {
			r.Status = refused.Status
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers = append(w.answers, r)
}

// look keeps some runs that are final, to compare them at the end.
func (w *watch) look(ctx context.Context, c *crash.Client) error {
	rows, err := c.Latest(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range rows {
		if r.Status == "WAITING" && r.WaitsFor == "" && w.rig.Former == "" { // former programs did not say it
			w.unexplained = append(w.unexplained, r)
		}
	}
	kept := 0
	for _, i := range rand.Perm(len(rows)) { //nolint:gosec // a sample
		if rows[i].Final() && kept < looksATime && len(w.looks) < maxLooks {
			w.looks = append(w.looks, rows[i])
			kept++
		}
	}
	return nil
}

func (w *watch) sight(ctx context.Context, c *crash.Client) error {
	members, err := c.Members(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sights = append(w.sights, members...)
	return nil
}

// hold notes what the processes hold; one that has just ended holds nothing.
func (w *watch) hold() {
	for _, m := range w.rig.Members {
		proc := "/proc/" + strconv.FormatInt(m.Pid(), 10)
		x := history.Holding{Node: m.ID, At: time.Now(), Connections: rig.OpenTo(proc, m.Store.Addr())}
		if files, err := os.ReadDir(filepath.Join(proc, "fd")); err == nil {
			x.Descriptors = len(files)
		}
		x.Memory = rig.Resident(proc)
		w.mu.Lock()
		w.holdings = append(w.holdings, x)
		w.mu.Unlock()
	}
}

// awaitMembers waits until all nodes are up in the registry, and notes it.
func (w *watch) awaitMembers(ctx context.Context, bound time.Duration) error {
	for until := time.Now().Add(bound); ; time.Sleep(200 * time.Millisecond) {
		members, err := w.client.Members(ctx)
		up := 0
		for _, m := range members {
			if m.Status == "UP" {
				up++
			}
		}
		if err == nil && up == len(w.rig.Members) || time.Now().After(until) {
			w.sights = append(w.sights, members...)
			if err != nil {
				return fmt.Errorf("read the registry: %w", err)
			}
			return nil
		}
	}
}
