package worker_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// desk has the services over a store of its own, whose clock the test moves.
type desk struct {
	t       *testing.T
	store   *persistence.Store
	clock   *clocktest.Manual
	tokens  *worker.Authenticator
	groups  *worker.GroupService
	workers *worker.WorkerService
	timing  delivery.Timing
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, clock: clocktest.NewManual(enginetest.Noon), timing: delivery.TimingFor(0)}
	cfg := dbtest.SQLite(t)
	cfg.Clock = d.clock
	d.store = dbtest.Open(t, cfg)
	d.tokens = worker.NewAuthenticator(d.store.WorkerGroups, d.clock)
	d.groups = worker.NewGroupService(worker.GroupDeps{
		Groups: d.store.WorkerGroups, Nodes: d.store, Release: "2.0", Auth: d.tokens, Clock: d.clock,
	})
	d.workers = worker.NewWorkerService(worker.Deps{
		Workers: d.store, Groups: d.store.WorkerGroups, Timing: func() delivery.Timing { return d.timing }, Clock: d.clock,
		Logger: slog.New(slog.DiscardHandler),
	})
	return d
}

// group makes a worker group for the jobs of a group.
func (d *desk) group(name, jobGroup string) {
	d.t.Helper()
	_, _, err := d.groups.Put(d.t.Context(), worker.GroupInput{Name: name, JobGroups: []string{jobGroup}, MaxWorkers: 100})
	require.NoError(d.t, err)
}

// token makes a token that ends in an hour.
func (d *desk) token(group string) (id, secret string) {
	d.t.Helper()
	t, secret, err := d.groups.CreateToken(d.t.Context(), worker.TokenInput{
		Group: group, Name: "deploy", ExpiresAt: d.clock.Now().Add(time.Hour), CreatedBy: "ann",
	})
	require.NoError(d.t, err)
	return t.ID, secret
}

// saying is a registration in which nothing is wrong.
func saying(group, instance, boot string) worker.Registration {
	return worker.Registration{
		Protocol: 1, Group: group, Instance: instance, Boot: boot, Slots: 8, Weight: 1, Handlers: []string{"b", "a", "b"},
	}
}

func wantCode(t *testing.T, err error, kind apperror.Kind, code string) *apperror.Error {
	t.Helper()
	var f *apperror.Error
	require.True(t, errors.As(err, &f), "%v", err)
	require.Equal(t, []any{kind, code}, []any{f.Kind, f.Code}, f.Message)
	return f
}
