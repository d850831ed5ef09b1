package answer_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/aside"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
)

// behind is a rig with all that comes after the engine: rules, plans, messages, sums and
// retention.
type behind struct {
	rig *rig
	*alertingtest.Desk
	loops map[string]func(ctx context.Context) error

	// failed counts the failures of each job, ended all ends, and old the rows that are to go.
	failed map[string]int
	ended  int64
	old    []string

	mu sync.Mutex
	// told are the ids of the messages that told of an alert while it fired.
	told map[string]map[string]bool
}

func newBehind(t *testing.T, mysql bool) *behind {
	t.Helper()
	r := newRigOf(t, mysql, enginetest.Options{}, 0)
	b := &behind{
		rig: r, Desk: &alertingtest.Desk{Node: r.Node, T: t}, failed: map[string]int{}, told: map[string]map[string]bool{},
	}
	clock := r.Clock
	b.Book = aside.NewRecorder(clock, nil, nil, slog.New(slog.DiscardHandler))
	b.Rule(alert.JobFailed, nil)
	b.Desk.Route(nil)
	evaluator, planner := b.Leader(b.Store), b.Planning(b.Store)
	fold := monitoring.NewFold(monitoring.FoldDeps{
		Store: b.Store, Digests: b.Store.Statistics, Clock: clock, StoreClock: clock, Zone: time.UTC,
		Aside: b.Book, Logger: slog.New(slog.DiscardHandler),
	})
	renderer, err := template.New(clock, time.UTC, notify.DialectOf)
	require.NoError(t, err)
	notifier := notifying.New(notifying.Deps{
		Store: b.Store, Notifications: b.Store, Settings: b.Store,
		Open:     func(alert.ChannelType, alert.ChannelConfig) (notifying.Channel, error) { return b, nil },
		Config:   func(s alert.Setting) (alert.ChannelConfig, error) { return alert.ChannelConfig(s.Sealed), nil },
		Renderer: renderer,
		Clock:    clock, StoreClock: clock, NodeID: "node-1", Random: func() float64 { return 0 }, Metrics: quiet{},
		Raised: func() {}, Note: func(error) {}, Logger: slog.New(slog.DiscardHandler),
	})
	retention := maintenance.NewRetention(maintenance.RetentionDeps{
		Store: b.Store, Clock: clock, StoreClock: clock, Days: maintenance.RetentionDays{Executions: 1},
		Logger: slog.New(slog.DiscardHandler),
	})
	b.loops = map[string]func(ctx context.Context) error{
		"take": func(ctx context.Context) error {
			_, _, err := evaluator.RunOnce(ctx)
			return err
		},
		"plan": func(ctx context.Context) error {
			_, err := planner.Plan(ctx)
			return err
		},
		"fold": func(ctx context.Context) error {
			_, err := fold.RunOnce(ctx)
			return err
		},
		"notify": func(ctx context.Context) error { return b.passing(ctx, notifier.RunOnce) },
		"retention": func(ctx context.Context) error {
			_, err := retention.RunOnce(ctx)
			return err
		},
	}
	return b
}

// passing runs a loop that waits by the clock. While the store is disturbed it is ended after 3 s of that
// clock; else it ends by itself.
func (b *behind) passing(ctx context.Context, run func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	for began := b.rig.Clock.Now(); ; {
		synctest.Wait()
		select {
		case err := <-done:
			return err
		default:
		}
		b.rig.Clock.Advance(20 * time.Millisecond)
		if b.rig.store.Disturbed() && b.rig.Clock.Now().Sub(began) > 3*time.Second {
			cancel()
		}
	}
}

// order is that in which what happens passes the loops.
var order = []string{"take", "plan", "notify", "fold", "retention"}

// quiet are the metrics of the notifier.
type quiet struct{}

func (quiet) Delivered(string, string)                {}
func (quiet) NotificationDelay(string, time.Duration) {}
func (quiet) NotificationDead(string)                 {}

// Send implements notifying.Channel.
func (b *behind) Send(_ context.Context, m alert.Message) alert.SendResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range m.Alerts {
		if b.told[a.ID] == nil {
			b.told[a.ID] = map[string]bool{}
		}
		b.told[a.ID][m.ID] = true
	}
	return alert.SendResult{Result: alert.ResultSent}
}

// fail ends a run of a job in failure, with all that an end writes, and adds a row that is old.
func (b *behind) fail(job *entity.Job) {
	b.T.Helper()
	b.rig.Clock.Advance(time.Millisecond)
	e := b.End(job, entity.StatusFailed)
	b.failed[job.ID]++
	b.ended++
	digests, leftOut := statistics.Encode([]*entity.Execution{e}, b.rig.Clock.Now())
	require.Zero(b.T, leftOut)
	was := *e
	was.CreateTime = b.rig.Clock.Now().AddDate(0, 0, -10)
	was.ID, was.FireKey = identity.RandomID(was.CreateTime), "old "+e.FireKey
	was.EndTime, was.UpdateTime = was.CreateTime, was.CreateTime
	was.ScheduledTime, was.DueTime = was.CreateTime, was.CreateTime
	b.old = append(b.old, was.ID)
	b.Write(b.T, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, []*entity.Execution{&was}); err != nil {
			return err
		}
		return tx.Statistics.AddDigests(ctx, b.rig.Clock.Now(), digests)
	})
}

// rest runs all loops until nothing is left of what has happened, and says what is.
func (b *behind) rest(but ...string) (left string) {
	b.T.Helper()
	for range 60 {
		for _, name := range order {
			_ = b.loops[name](b.T.Context())
			b.rig.Clock.Advance(700 * time.Millisecond)
		}
		if left = b.left(but...); left == "" {
			return ""
		}
	}
	return left
}

// left says what the rows do not tell as they should: of all jobs but some.
func (b *behind) left(but ...string) string {
	b.T.Helper()
	skip := strings.Join(but, " ")
	episodes := map[string]int{}
	for _, a := range b.Alerts() {
		if episodes[a.JobID]++; episodes[a.JobID] > 1 {
			return fmt.Sprintf("job %s has two alerts", a.JobID)
		}
		if strings.Contains(skip, a.JobID) {
			continue
		}
		if a.Count != b.failed[a.JobID] {
			return fmt.Sprintf("the alert of job %s counts %d of %d failures", a.JobID, a.Count, b.failed[a.JobID])
		}
		b.mu.Lock()
		messages := len(b.told[a.ID])
		b.mu.Unlock()
		if messages != 1 {
			return fmt.Sprintf("the alert of job %s was told by %d messages", a.JobID, messages)
		}
	}
	for id := range b.failed {
		if episodes[id] == 0 && !strings.Contains(skip, id) {
			return "no alert tells of job " + id
		}
	}
	rows, err := b.Store.Statistics.SumRows(b.T.Context(), repository.SumsQuery{
		Kind: statistics.KindCluster, Names: []string{""}, Hours: always, Days: statistics.Interval{},
	})
	require.NoError(b.T, err)
	sum := int64(0)
	for _, row := range rows {
		sum += row.Row.Failed
	}
	if sum != b.ended && skip == "" {
		return fmt.Sprintf("the sums hold %d of %d ends", sum, b.ended)
	}
	stored, err := b.Store.Executions.ByIDs(b.T.Context(), b.old)
	require.NoError(b.T, err)
	if len(stored) > 0 && skip == "" {
		return fmt.Sprintf("%d old rows are left", len(stored))
	}
	return ""
}

var always = statistics.Interval{From: enginetest.Noon.AddDate(-1, 0, 0), To: enginetest.Noon.AddDate(1, 0, 0)}
