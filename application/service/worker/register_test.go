package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// The rule of take-over (V7): one life at a time, and what the old one may still do is kept in the row.
func TestALifeIsTakenOver(t *testing.T) {
	d := newDesk(t)
	d.group("shop", "pay")
	first, err := d.workers.Register(t.Context(), "shop", saying("shop", "a", "boot-1"))
	require.NoError(t, err)
	require.Equal(t, entityworker.ID("shop", "a"), first.ID)
	require.Equal(t, []any{int64(1), entityworker.Up, []string{"a", "b"}, d.timing.Beat, d.timing.Lease, enginetest.Noon},
		[]any{first.Epoch, first.Status, first.Handlers, first.Beat, first.Lease, first.LastBeat})
	require.Zero(t, first.Former)

	d.clock.Advance(time.Second)
	require.NoError(t, d.workers.Drain(t.Context(), first.ID))
	again, err := d.workers.Register(t.Context(), "shop", saying("shop", "a", "boot-1"))
	require.NoError(t, err)
	require.Equal(t, []any{int64(1), entityworker.Draining, enginetest.Noon, enginetest.Noon.Add(time.Second)},
		[]any{again.Epoch, again.Status, again.BeginTime, again.LastBeat}, "the same life")

	d.clock.Advance(d.timing.Beat*5/2 - 1)
	_, err = d.workers.Register(t.Context(), "shop", saying("shop", "a", "boot-2"))
	wantCode(t, err, apperror.KindConflict, "instance_in_use")
	d.clock.Advance(time.Millisecond)
	second, err := d.workers.Register(t.Context(), "shop", saying("shop", "a", "boot-2"))
	require.NoError(t, err)
	require.Equal(t, []any{int64(2), entityworker.Up, entityworker.Former{Epoch: 1, Until: again.LeaseUntil()}},
		[]any{second.Epoch, second.Status, second.Former})

	// One that left is replaced at once, and owes what its row says.
	require.NoError(t, d.workers.Leave(t.Context(), second.ID, 2))
	require.NoError(t, d.workers.Leave(t.Context(), second.ID, 2), "a repeated call")
	wantCode(t, d.workers.Leave(t.Context(), second.ID, 1), apperror.KindConflict, "epoch_lost")
	wantCode(t, d.workers.Leave(t.Context(), "@shop.none", 1), apperror.KindConflict, "epoch_lost")
	third, err := d.workers.Register(t.Context(), "shop", saying("shop", "a", "boot-2"))
	require.NoError(t, err)
	require.Equal(t, []any{int64(3), entityworker.Former{Epoch: 2, Until: again.LeaseUntil()}},
		[]any{third.Epoch, third.Former})
}

// other is a repository whose row of each worker is that of another instance.
type other struct{ repository.Workers }

func (o other) RegisterWorker(_ context.Context, id, _ string, begin repository.BeginWorker) (
	entityworker.Worker, error,
) {
	return begin(&entityworker.Worker{ID: id, Instance: "other", Status: entityworker.Down}, enginetest.Noon)
}

func TestTwoInstancesWithOneIDDoNotBothRegister(t *testing.T) {
	d := newDesk(t)
	d.group("shop", "pay")
	s := worker.NewWorkerService(worker.Deps{
		Workers: other{d.store}, Groups: d.store.WorkerGroups, Clock: d.clock,
		Timing: func() delivery.Timing { return d.timing }, Logger: slog.New(slog.DiscardHandler),
	})
	_, err := s.Register(t.Context(), "shop", saying("shop", "a", "boot-1"))
	wantCode(t, err, apperror.KindConflict, "instance_id_taken")
}

func TestARegistrationIsRefusedWithAllThatIsWrong(t *testing.T) {
	d := newDesk(t)
	d.group("shop", "pay")
	register := func(change func(n *worker.Registration)) error {
		n := saying("shop", "a", "boot-1")
		change(&n)
		_, err := d.workers.Register(t.Context(), "shop", n)
		return err
	}
	err := register(func(n *worker.Registration) { *n = worker.Registration{CommandSlots: -1, Slots: 1001, PID: 1 << 53} })
	got := map[string]string{}
	for _, f := range apperror.InvalidFields(err) {
		require.NotContains(t, got, f.Field)
		require.NotEmpty(t, f.Message)
		got[f.Field] = f.Code
	}
	require.Equal(t, map[string]string{
		"protocol": "required", "group": "required", "instance": "required", "bootId": "invalid", "slots": "out_of_range",
		"commandSlots": "out_of_range", "weight": "out_of_range", "pid": "out_of_range",
	}, got)
	long := strings.Repeat("x", 101)
	for field, change := range map[string]func(n *worker.Registration){
		"instance":     func(n *worker.Registration) { n.Instance = long },
		"bootId":       func(n *worker.Registration) { n.Boot = "a b" },
		"commandSlots": func(n *worker.Registration) { n.CommandSlots = 1 },
		"handlers":     func(n *worker.Registration) { n.Handlers = names(655) },
		"handlers[1]":  func(n *worker.Registration) { n.Handlers = []string{"a", "a\x00"} },
		"handlers[0]":  func(n *worker.Registration) { n.Handlers = []string{""} },
		"labels.a":     func(n *worker.Registration) { n.Labels = map[string]string{"a": "\x00"} },
		"sdk":          func(n *worker.Registration) { n.SDK = "\x00" },
		"runtime":      func(n *worker.Registration) { n.Runtime = long },
		"version":      func(n *worker.Registration) { n.Version = long },
		"host":         func(n *worker.Registration) { n.Host = long },
		"weight":       func(n *worker.Registration) { n.Weight = 1001 },
	} {
		wrong := apperror.InvalidFields(register(change))
		require.Len(t, wrong, 1, field)
		require.Equal(t, field, wrong[0].Field)
	}
	require.NoError(t, register(func(n *worker.Registration) { n.Handlers = names(648) }), "64 KiB of handlers")
	wantCode(t, register(func(n *worker.Registration) { n.Protocol = 2 }), apperror.KindConflict, "protocol_unknown")
	wantCode(t, register(func(n *worker.Registration) { n.Group = "bank" }), apperror.KindForbidden, "foreign_group")
	_, err = d.workers.Register(t.Context(), "gone", saying("gone", "a", "boot"))
	wantCode(t, err, apperror.KindUnauthenticated, "unknown_token")
}

// names are n names of handlers, of 100 bytes each.
func names(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%0100d", i))
	}
	return out
}

func TestAGroupHasRoomForSoMany(t *testing.T) {
	d := newDesk(t)
	_, _, err := d.groups.Put(t.Context(), worker.GroupInput{Name: "shop", JobGroups: []string{"pay"}, MaxWorkers: 1})
	require.NoError(t, err)
	_, err = d.workers.Register(t.Context(), "shop", saying("shop", "a", "boot"))
	require.NoError(t, err)
	_, err = d.workers.Register(t.Context(), "shop", saying("shop", "b", "boot"))
	require.Positive(t, wantCode(t, err, apperror.KindTooMany, "too_many_workers").RetryAfterSec)
	wantCode(t, d.groups.Delete(t.Context(), "shop"), apperror.KindConflict, "worker_group_in_use")
}

// slow is a repository in which registrations wait.
type slow struct {
	repository.Workers
	release chan struct{}
}

func (s slow) RegisterWorker(context.Context, string, string, repository.BeginWorker) (entityworker.Worker, error) {
	<-s.release
	return entityworker.Worker{}, errors.New("released")
}

// known are worker groups that are all there.
type known struct{ groupStore }

// groupStore has another name than one of its methods.
type groupStore = repository.WorkerGroups

func (known) WorkerGroup(_ context.Context, name string) (entityworker.Group, error) {
	return entityworker.Group{Name: name}, nil
}

// Ten thousand at once are told to come again, and take no more than their share.
func TestRegistrationsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := slow{release: make(chan struct{})}
		s := worker.NewWorkerService(worker.Deps{
			Workers: rows, Groups: known{}, Timing: func() delivery.Timing { return delivery.TimingFor(0) },
			Clock: clock.NewSystem(), Logger: slog.New(slog.DiscardHandler),
		})
		refused := make(chan error, 10_000)
		for i := range 10_000 {
			go func() {
				_, err := s.Register(t.Context(), "shop", saying("shop", fmt.Sprint(i), "boot"))
				refused <- err
			}()
		}
		synctest.Wait()
		require.Len(t, refused, 10_000-50)
		for range 10_000 - 50 {
			require.Positive(t, wantCode(t, <-refused, apperror.KindTooMany, "too_many_registrations").RetryAfterSec)
		}
		close(rows.release)
	})
}

func TestCallersSeeWorkersOfTheirGroups(t *testing.T) {
	d := newDesk(t)
	d.group("bank", "loans")
	d.group("shop", "pay")
	for _, of := range [][2]string{{"bank", "a"}, {"bank", "b"}, {"shop", "a"}, {"shop", "b"}, {"shop", "c"}} {
		_, err := d.workers.Register(t.Context(), of[0], saying(of[0], of[1], "boot"))
		require.NoError(t, err)
	}
	pay := func(groups []string) bool { return len(groups) == 1 && groups[0] == "pay" }
	all := func([]string) bool { return true }
	list := func(f worker.Filter, p repository.Page, sees worker.Sees) ([]worker.Worker, string) {
		found, next, err := d.workers.List(t.Context(), f, p, sees)
		require.NoError(t, err)
		return found, next
	}
	found, next := list(worker.Filter{}, repository.Page{Limit: 2}, pay)
	require.Len(t, found, 2, "a page is full although others come before")
	rest, end := list(worker.Filter{}, repository.Page{Limit: 2, Cursor: next}, pay)
	require.Len(t, rest, 1)
	require.Empty(t, end)
	for _, w := range append(found, rest...) {
		require.Equal(t, []any{"shop", []string{"pay"}, false}, []any{w.Group, w.JobGroups, w.Suspect})
	}
	found, _ = list(worker.Filter{}, repository.Page{Limit: 10}, all)
	require.Len(t, found, 5)
	found, _ = list(worker.Filter{Group: "bank"}, repository.Page{Limit: 10}, pay)
	require.Empty(t, found)
	found, _ = list(worker.Filter{Group: "bank", Status: entityworker.Down}, repository.Page{Limit: 10}, all)
	require.Empty(t, found)

	id := entityworker.ID("bank", "a")
	_, err := d.workers.Get(t.Context(), id, pay)
	wantCode(t, err, apperror.KindNotFound, "not_found")
	d.clock.Advance(2*d.timing.Beat + time.Millisecond)
	w, err := d.workers.Get(t.Context(), id, all)
	require.NoError(t, err)
	require.True(t, w.Suspect)
	require.NoError(t, d.workers.Drain(t.Context(), id))
	require.NoError(t, d.workers.Drain(t.Context(), id))
	require.NoError(t, d.workers.Resume(t.Context(), id))
	wantCode(t, d.workers.Drain(t.Context(), "@bank.none"), apperror.KindNotFound, "not_found")
	require.NoError(t, worker.Speaks("bank", id))
	for _, foreign := range []string{entityworker.ID("shop", "a"), "@bank", "bank", "", "node-1"} {
		wantCode(t, worker.Speaks("bank", foreign), apperror.KindForbidden, "foreign_group")
	}
	require.Error(t, worker.Speaks("", "node-1"))
}
