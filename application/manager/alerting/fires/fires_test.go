package fires_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/fires"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// table is the executions of jobs by id.
type table struct {
	rows map[string][]*entity.Execution
	read int
}

// fire adds the shards of a fire that ended at a moment.
func (b *table) fire(job string, at time.Time, shards int, status entity.Status) {
	for n := range shards {
		b.rows[job] = append(b.rows[job], &entity.Execution{
			ID: identity.ExecutionID(at, job, identity.FireKey(at), n), FireKey: identity.FireKey(at), ShardIndex: n,
			ShardTotal: shards, Status: status, ScheduledTime: at, EndTime: at, UpdateTime: at,
		})
	}
}

func (b *table) sort() {
	for _, rows := range b.rows {
		slices.SortFunc(rows, func(x, y *entity.Execution) int { return -compare(x.ID, y.ID) })
	}
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Outcomes implements fires.Rows.
func (b *table) Outcomes(_ context.Context, job, before string, limit int) ([]*entity.Execution, error) {
	rows := b.rows[job]
	from, _ := slices.BinarySearchFunc(
		rows,
		before,
		func(e *entity.Execution, id string) int { return -compare(e.ID, id) },
	)
	for from < len(rows) && rows[from].ID >= before {
		from++
	}
	page := rows[from:min(from+limit, len(rows))]
	b.read += len(page)
	return page, nil
}

func newest(n int) func([]alerting.Run) bool {
	return func(runs []alerting.Run) bool { return len(runs) >= n }
}

// Later rows, and rows of runs that go on, do not hide the fires of a moment.
func TestFiresAreReadAroundTheMoment(t *testing.T) {
	for _, shards := range []int{1, 2, 333, 1024} {
		t.Run(fmt.Sprint(shards), func(t *testing.T) {
			b := &table{rows: map[string][]*entity.Execution{}}
			for n := range 5 {
				b.fire("j", noon.Add(time.Duration(n)*time.Second), shards, entity.StatusFailed)
			}
			for n := range 30_000 {
				b.fire("j", noon.Add(time.Minute+time.Duration(n)*time.Millisecond), 1, entity.StatusSuccess)
			}
			for n := range 900 {
				b.fire("j", noon.Add(3*time.Second+time.Duration(n+1)*time.Millisecond), 1, entity.StatusRunning)
			}
			b.sort()
			r := fires.NewReader(b, fires.NewBudget(), noon.Add(time.Hour))
			p, err := r.Before(t.Context(), fires.Question{
				JobID: "j", Moment: noon.Add(4 * time.Second), Fires: 3, Enough: newest(3),
			})
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(p.Runs), 3)
			require.Equal(t, noon.Add(4*time.Second), p.Runs[0].At)
			require.Less(t, b.read, 3*shards+8000, "what came later was not read")
		})
	}
}

// One job alone may take all rows of a turn, and then its past is cut. Another job waits.
func TestATurnReadsABoundedNumberOfRows(t *testing.T) {
	b := &table{rows: map[string][]*entity.Execution{}}
	for n := range fires.MaxRows / 1000 * 2 {
		b.fire("many", noon.Add(time.Duration(n)*time.Second), 1000, entity.StatusSuccess)
	}
	b.fire("few", noon, 1, entity.StatusFailed)
	b.sort()
	budget := fires.NewBudget()
	r := fires.NewReader(b, budget, noon.Add(24*time.Hour))
	ask := func(job string) (alerting.Past, error) {
		return r.Before(t.Context(), fires.Question{
			JobID: job, Moment: noon.Add(time.Hour), Fires: 1000, Enough: newest(1000),
		})
	}
	p, err := ask("many")
	require.NoError(t, err)
	require.True(t, p.Cut)
	require.Len(t, p.Runs, fires.MaxRows/1000)
	require.Equal(t, fires.MaxRows, b.read)
	require.True(t, budget.Spent())
	_, err = ask("few")
	require.ErrorIs(t, err, fires.ErrLater)
	_, err = r.Succeeded(t.Context(), "few", noon, noon, func(*entity.Execution) bool { return true })
	require.ErrorIs(t, err, fires.ErrLater)

	r = fires.NewReader(b, fires.NewBudget(), noon.Add(24*time.Hour))
	p, err = ask("few")
	require.NoError(t, err)
	require.False(t, p.Cut)
	require.Len(t, p.Runs, 1)
	_, err = ask("many")
	require.ErrorIs(t, err, fires.ErrLater, "it did not have all rows of the turn")
}

func TestAnErrorOfTheStoreIsPassedOn(t *testing.T) {
	r := fires.NewReader(broken{}, fires.NewBudget(), noon)
	_, err := r.Before(t.Context(), fires.Question{JobID: "j", Moment: noon, Fires: 1, Enough: newest(1)})
	require.ErrorContains(t, err, "away")
}

type broken struct{}

// Outcomes implements fires.Rows.
func (broken) Outcomes(context.Context, string, string, int) ([]*entity.Execution, error) {
	return nil, errors.New("away")
}
