package definition_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// slow lets another caller go first, each time that a job is created.
type slow struct {
	definition.DefinitionJobs
	before func()
	err    error
}

func (s slow) Create(ctx context.Context, job *entity.Job, enabled bool) (*entity.Job, error) {
	if s.before != nil {
		s.before()
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.DefinitionJobs.Create(ctx, job, enabled)
}

// through is the service of documents over jobs that are changed in a way of the test.
func (d *desk) through(jobs definition.DefinitionJobs) *definition.DefinitionService {
	groups := group.NewGroupService(d.Store, d.Jobs, d.Planner, d.Time, slog.New(slog.DiscardHandler))
	return definition.NewDefinitionService(d.Store.Jobs, jobs, groups, d.Secrets, d.Alerting)
}

func outcomes(done []definition.Declared) (out []definition.Outcome) {
	for _, one := range done {
		out = append(out, one.Outcome)
	}
	return out
}

// Another worker creates the job between this one's look and its own try.
func TestTwoThatDeclareAJobMakeOne(t *testing.T) {
	d := newDesk(t)
	x, _ := d.exchange()
	var first []definition.Declared
	second, err := d.through(slow{DefinitionJobs: d.Jobs.ForDocuments(), before: func() {
		var err error
		first, err = x.Declare(t.Context(), []definition.Definition{define("a", nil, nil)})
		require.NoError(t, err)
	}}).Declare(t.Context(), []definition.Definition{define("a", nil, nil)})
	require.NoError(t, err)
	require.Equal(t, []definition.Outcome{definition.OutcomeCreated}, outcomes(first))
	require.Equal(t, []definition.Outcome{definition.OutcomeExists}, outcomes(second))
	require.Equal(t, first[0].Change.After.ID, second[0].Change.After.ID)
	require.Equal(t, entity.JobCreated, second[0].Change.After.Status)
}

func TestManyThatDeclareJobsMakeEachOnce(t *testing.T) {
	servicetest.EachStore(t, func(on *servicetest.Desk) {
		d := &desk{on}
		x, _ := d.exchange()
		const callers = 8
		var wait sync.WaitGroup
		all, errs := make([][]definition.Declared, callers), make([]error, callers)
		for i := range callers {
			wait.Go(func() {
				all[i], errs[i] = x.Declare(d.T.Context(),
					[]definition.Definition{define("a", nil, nil), define("b", nil, nil)})
			})
		}
		wait.Wait()
		created := map[string]int{}
		for i := range callers {
			require.NoError(d.T, errs[i])
			for _, one := range all[i] {
				require.Contains(d.T, []definition.Outcome{definition.OutcomeCreated, definition.OutcomeExists}, one.Outcome)
				if one.Outcome == definition.OutcomeCreated {
					created[one.Change.After.Name]++
				}
			}
		}
		require.Equal(d.T, map[string]int{"a": 1, "b": 1}, created)
		found, _, err := d.Store.Jobs.List(d.T.Context(), repository.JobFilter{}, repository.Page{Limit: 10})
		require.NoError(d.T, err)
		require.Len(d.T, found, 2)
	})
}

// A store that does not answer is no fault of a job: the caller hears of it, and says all of it again.
func TestADeclarationThatFailsMayBeRepeated(t *testing.T) {
	d := newDesk(t)
	x, _ := d.exchange()
	jobs := func() []definition.Definition {
		return []definition.Definition{define("a", nil, nil), define("b", nil, nil)}
	}
	_, err := x.Declare(t.Context(), jobs()[:1])
	require.NoError(t, err)
	done, err := d.through(slow{
		DefinitionJobs: d.Jobs.ForDocuments(), err: apperror.Unavailable(context.DeadlineExceeded),
	}).Declare(t.Context(), jobs())
	servicetest.RequireKind(t, apperror.KindUnavailable, err)
	require.Equal(t, []definition.Outcome{definition.OutcomeExists}, outcomes(done))
	done, err = x.Declare(t.Context(), jobs())
	require.NoError(t, err)
	require.Equal(t, []definition.Outcome{definition.OutcomeExists, definition.OutcomeCreated}, outcomes(done))
}

// A fleet that starts at once must not fill the store's lane of writes.
func TestDeclarationsAtOnceAreBounded(t *testing.T) {
	d := newDesk(t)
	var x *definition.DefinitionService
	depth, refused := 0, error(nil)
	x = d.through(slow{DefinitionJobs: d.Jobs.ForDocuments(), before: func() {
		if depth++; refused == nil {
			if _, err := x.Declare(t.Context(), []definition.Definition{define("a", nil, nil)}); err != nil {
				refused = err
			}
		}
	}})
	_, err := x.Declare(t.Context(), []definition.Definition{define("a", nil, nil)})
	require.NoError(t, err)
	servicetest.RequireCode(t, refused, apperror.KindTooMany, "too_many_declarations")
	require.Equal(t, 8, depth)
	_, err = x.Declare(t.Context(), []definition.Definition{define("b", nil, nil)})
	require.NoError(t, err)
}
