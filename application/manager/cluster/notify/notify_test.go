package notify_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/notify"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// air carries messages to every subscriber, in order.
type air struct {
	mu       sync.Mutex
	subs     []chan []byte
	sent     int
	fail     error
	breaking bool
}

func (a *air) Publish(_ context.Context, m []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail != nil {
		return a.fail
	}
	a.sent++
	for _, s := range a.subs {
		s <- m
	}
	return nil
}

func (a *air) Subscribe(ctx context.Context, began func(), take func([]byte)) error {
	c := make(chan []byte, 100)
	a.mu.Lock()
	a.subs = append(a.subs, c)
	broken := a.breaking
	a.breaking = false
	a.mu.Unlock()
	if broken {
		return errors.New("broken")
	}
	began()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-c:
			take(m)
		}
	}
}

func (a *air) listening() int { a.mu.Lock(); defer a.mu.Unlock(); return len(a.subs) }

// ears note what they hear.
type ears struct {
	mu       sync.Mutex
	jobs     []string
	stops    []string
	ready    int
	commands int
	wanted   []string
	members  int
	missed   int
	events   int
	messages int
}

func (e *ears) JobsChanged(_ context.Context, ids []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.jobs = append(e.jobs, ids...)
	return nil
}

func (e *ears) WorkersWanted(groups []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wanted = append(e.wanted, groups...)
}

func (e *ears) RunsReady(kind entity.SlotKind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if kind == entity.SlotCommand {
		e.commands++
	} else {
		e.ready++
	}
}

func (e *ears) StopAsked(_ context.Context, ids []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stops = append(e.stops, ids...)
	return errors.New("the store is away")
}

func (e *ears) EventsAdded() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events++
}

func (e *ears) MessagesPlanned() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.messages++
}

func (e *ears) MembersChanged(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.members++
	return nil
}

func (e *ears) NotificationsMissed(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.missed++
	return errors.New("the store is away")
}

func (e *ears) planned() int { e.mu.Lock(); defer e.mu.Unlock(); return e.messages }

func (e *ears) looked() int { e.mu.Lock(); defer e.mu.Unlock(); return e.missed }

func (e *ears) heard() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	slices.Sort(e.jobs)
	return fmt.Sprint(e.jobs, e.stops, e.ready, e.members, e.events)
}

// join starts a hub that ends with the test.
func join(t *testing.T, a *air, name string) (*notify.Notifier, *ears) {
	t.Helper()
	e := &ears{}
	h := notify.New(name, a, clock.NewSystem(), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	before := a.listening()
	go func() { defer close(done); _ = h.Run(ctx, e) }()
	t.Cleanup(func() { cancel(); <-done })
	require.Eventually(t, func() bool { return a.listening() > before }, 20*time.Second, time.Millisecond)
	return h, e
}

func TestTheOthersHearTheNewsAndTheTellerDoesNot(t *testing.T) {
	a := &air{}
	teller, own := join(t, a, "a")
	_, other := join(t, a, "b")
	teller.JobChanged("job-1")
	teller.AfterCommit(commit.PostCommit{
		Ready: 3, Shared: true, Rearmed: []*entity.Job{{ID: "job-2"}}, Stopping: []*entity.Execution{{ID: "run-1"}},
	})
	teller.MembersChanged()
	teller.EventsAdded()
	teller.MessagesPlanned()
	require.Eventually(t, func() bool {
		heard := other.heard()
		return heard == "[job-1 job-2] [run-1] 1 1 1" && other.planned() == 1
	}, 20*time.Second, time.Millisecond, other.heard())
	require.Equal(t, "[] [] 0 0 0", own.heard())
}

// A run in the queue of one node is news for that node alone.
func TestOnlyTheNodeThatGotWorkIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &air{}
		teller, _ := join(t, a, "a")
		_, named := join(t, a, "b")
		_, other := join(t, a, "c")
		for range 1000 {
			teller.AfterCommit(commit.PostCommit{Away: 1, Nodes: []string{"b"}})
			teller.AfterCommit(commit.PostCommit{Ready: 1}) // in the teller's own queue
		}
		teller.JobChanged("last")
		for _, e := range []*ears{named, other} {
			require.Eventually(t, func() bool {
				e.mu.Lock()
				defer e.mu.Unlock()
				return len(e.jobs) == 1
			}, 20*time.Second, time.Millisecond)
		}
		require.Equal(t, "[last] [] 0 0 0", other.heard())
		a.mu.Lock()
		defer a.mu.Unlock()
		require.Less(t, a.sent, 5, "one every five milliseconds")
		require.NotEqual(t, "[last] [] 0 0 0", named.heard())
	})
}

func TestManyNewsAreFewMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &air{}
		teller, _ := join(t, a, "a")
		_, other := join(t, a, "b")
		for i := range 10_000 {
			teller.AfterCommit(commit.PostCommit{Ready: 1, Shared: true, Rearmed: []*entity.Job{{ID: fmt.Sprint(i)}}})
		}
		require.Eventually(t, func() bool {
			other.mu.Lock()
			defer other.mu.Unlock()
			return other.ready > 0
		}, 20*time.Second, time.Millisecond)
		a.mu.Lock()
		defer a.mu.Unlock()
		require.Less(t, a.sent, 5, "one every five milliseconds")
		teller.AfterCommit(commit.PostCommit{})
	})
}

func TestStrangeMessagesAreDropped(t *testing.T) {
	a := &air{}
	_, ear := join(t, a, "a")
	for _, m := range []string{
		"", "{", "[]", `{"jobs":1}`, `{"from":"b","unknown":true}`,
		`{"from":"b","ready":true,"x":"` + strings.Repeat("x", 64<<10) + `"}`,
	} {
		require.NoError(t, a.Publish(t.Context(), []byte(m)))
	}
	require.NoError(t, a.Publish(t.Context(), []byte(`{"from":"b","jobs":["x"]}`)))
	require.Eventually(t, func() bool { return ear.heard() == "[x] [] 0 0 0" }, 20*time.Second, time.Millisecond)
}

func TestABrokenWireIsMended(t *testing.T) {
	a := &air{fail: errors.New("away"), breaking: true}
	teller, own := join(t, a, "a")
	_, other := join(t, a, "b")
	teller.JobChanged("lost")
	require.Eventually(t, func() bool {
		return a.listening() >= 3
	}, 20*time.Second, time.Millisecond, "it subscribes again")
	require.Eventually(t, func() bool {
		return own.looked() == 1 && other.looked() == 1
	}, 20*time.Second, time.Millisecond,
		"a node looks for what it may have missed, each time that it hears again")
	a.mu.Lock()
	a.fail = nil
	a.mu.Unlock()
	require.Eventually(t, func() bool {
		teller.JobChanged("later")
		return other.heard() != "[] [] 0 0 0"
	}, 20*time.Second, 10*time.Millisecond)
}
