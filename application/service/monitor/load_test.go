package monitor_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// load counts over the store of a desk.
func (d *desk) load(q monitor.LoadQuery) monitor.Load {
	d.T.Helper()
	s := monitor.NewLoadService(monitor.LoadDeps{Jobs: d.Store, Schedules: d.Schedules, Clock: d.Time, Machine: d.Clock})
	l, err := s.Load(d.T.Context(), q)
	require.NoError(d.T, err)
	return l
}

func cron(expression string) schedule.Spec {
	return schedule.Spec{Kind: schedule.Cron, CronExpression: expression}
}

func TestTheLoadOfTheComingMinutes(t *testing.T) {
	eachStore(t, func(d *desk) {
		put := func(n int, group string, shape schedule.Spec) *entity.Job {
			return d.Create(enginetest.Job(fmt.Sprint("job ", n), func(j *entity.Job) { j.Group, j.Schedule = group, shape }))
		}
		put(1, "a", cron("0 * * * * ?"))
		put(2, "a", cron("0/15 1 * * * ?"))
		put(3, "b", schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000})
		put(4, "b", schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 120_000})
		put(5, "b", schedule.Spec{Kind: schedule.Once, At: noon(90 * time.Second)})
		put(6, "b", schedule.Spec{Kind: schedule.None})
		d.Replace(put(7, "b", cron("0 2 * * * ?")).ID, func(j *entity.Job) { j.ShardCount = 10 })
		late := put(8, "b", schedule.Spec{
			Kind: schedule.FixedRate, IntervalMs: 3_600_000, StartTime: noon(time.Minute),
			JitterMs: 60_000,
		})
		paused := put(9, "a", cron("* * * * * ?"))
		_, err := d.Jobs.Pause(d.T.Context(), paused.ID, entity.Pause{})
		require.NoError(d.T, err)
		s, err := d.Schedules.Compile(late.Schedule)
		require.NoError(d.T, err)
		moved := []int{0, 0, 0, 0}
		moved[(time.Minute+s.Jitter(late.ID))/time.Minute]++

		d.Clock.Advance(17 * time.Second)
		l := d.load(monitor.LoadQuery{Minutes: 4})
		require.Equal(d.T, noon(0), l.From, "from the beginning of the minute")
		require.Equal(d.T, []int{1 + 5 + moved[0], 1 + 4 + 6 + 1 + moved[1], 1 + 6 + 1 + 1 + moved[2], 1 + 6 + moved[3]},
			l.Fires)
		require.Equal(d.T, []any{8, true}, []any{l.Jobs, l.Complete})
		l = d.load(monitor.LoadQuery{Minutes: 2, Group: "a"})
		require.Equal(d.T, []int{1, 5}, l.Fires)
		require.Equal(d.T, []int{1, 5}, d.load(monitor.LoadQuery{Minutes: 2, Groups: []string{"a", "none"}}).Fires)
		require.Equal(d.T, []int{0, 0}, d.load(monitor.LoadQuery{Minutes: 2, Group: "b", Groups: []string{"a"}}).Fires)
		require.Equal(d.T, []int{5},
			d.load(monitor.LoadQuery{From: noon(61*time.Minute + time.Second), Minutes: 1, Group: "a"}).Fires)
	})
}

// plenty are so many jobs that no store is asked.
type plenty struct {
	jobs []repository.Planned
	err  error
	// read runs before the answer.
	read func()
}

func (p *plenty) EnabledSchedules(context.Context, repository.ScheduleQuery) ([]repository.Planned, error) {
	if p.read != nil {
		p.read()
	}
	return p.jobs, p.err
}

func TestTheCountOfALoadIsBounded(t *testing.T) {
	d := newDesk(t)
	many := &plenty{}
	each := &schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 1000, StartTime: noon(0)}
	for n := range 25_000 {
		many.jobs = append(many.jobs, repository.Planned{ID: fmt.Sprintf("%05d", n), Schedule: each})
	}
	s := monitor.NewLoadService(monitor.LoadDeps{Jobs: many, Schedules: d.Schedules, Clock: d.Time, Machine: d.Clock})
	l, err := s.Load(t.Context(), monitor.LoadQuery{Minutes: 10})
	require.NoError(t, err)
	require.Equal(t, []any{25_000, true, 1_500_000}, []any{l.Jobs, l.Complete, l.Fires[9]})

	many.read = func() { d.Clock.Advance(6 * time.Second) }
	l, err = s.Load(t.Context(), monitor.LoadQuery{Minutes: 10})
	require.NoError(t, err)
	require.Equal(t, []any{0, false}, []any{l.Jobs, l.Complete}, "after five seconds what was found is told")

	many.read = nil
	many.jobs = many.jobs[:2500]
	for n := range many.jobs { // each has a walk of its own
		many.jobs[n].Schedule = &schedule.Spec{
			Kind: schedule.Cron, CronExpression: fmt.Sprintf("%d * * * * ?", n%60),
			EndTime: noon(240*time.Hour + time.Duration(n)*time.Second),
		}
	}
	l, err = s.Load(t.Context(), monitor.LoadQuery{Minutes: 10_080})
	require.NoError(t, err)
	require.False(t, l.Complete)
	require.Less(t, l.Jobs, 250)

	many.err = apperror.Unavailable(context.DeadlineExceeded)
	_, err = s.Load(t.Context(), monitor.LoadQuery{Minutes: 1})
	require.ErrorIs(t, err, many.err)
	_, err = s.Load(t.Context(), monitor.LoadQuery{Minutes: 1, From: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.True(t, apperror.Is(err, apperror.KindInvalid))
}

// BenchmarkLoad10kJobs is the planned load of the coming day from the store.
func BenchmarkLoad10kJobs(b *testing.B) {
	n := enginetest.New(b, enginetest.Options{})
	shapes := []string{
		"0 * * * * ?", "S * * * * ?", "* * * * * ?", "0/10 * * * * ?", "0 M/5 * * * ?", "S M * * * ?",
		"0 M H * * ?", "0 0/10 9-17 ? * MON-FRI",
	}
	zones := []string{"UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York"}
	n.Write(b, func(ctx context.Context, tx repository.Tx) error {
		for i := range 10_000 {
			j := enginetest.Job(fmt.Sprint(i), func(j *entity.Job) {
				j.ID = fmt.Sprintf("01930000-0000-7000-8000-%012d", i)
				own := strings.NewReplacer("S", strconv.Itoa(i/7%60), "M", strconv.Itoa(i/11%60), "H", strconv.Itoa(i/13%24))
				expression := shapes[i%len(shapes)]
				if !strings.Contains(expression, "MON") {
					expression = own.Replace(expression)
				}
				j.Schedule = schedule.Spec{
					Kind: schedule.Cron, CronExpression: expression,
					TimeZone: zones[i/len(shapes)%len(zones)], JitterMs: int64(i % 3 * 1000),
				}
				if i%5 == 0 {
					j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: int64(1000 * (1 + i%300)), Anchor: noon(0)}
				}
				j.Status, j.Version, j.CreateTime, j.UpdateTime = entity.JobEnabled, 1, noon(0), noon(0)
			})
			if err := tx.Jobs.Insert(ctx, j); err != nil {
				return err
			}
		}
		return nil
	})
	s := monitor.NewLoadService(monitor.LoadDeps{
		Jobs: n.Store, Schedules: n.Schedules, Clock: n.Time,
		Machine: clock.NewSystem(),
	})
	for b.Loop() {
		l, err := s.Load(b.Context(), monitor.LoadQuery{Minutes: 1440})
		require.NoError(b, err)
		require.True(b, l.Complete)
		require.Equal(b, 10_000, l.Jobs)
	}
}
