package budget_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/budget"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// table is a store of suspensions and a clock.
type table struct {
	rows   map[string]alert.Suspension
	now    time.Time
	passed time.Duration
	away   error
}

func (s *table) SuspendRules(_ context.Context, all []alert.Suspension) error {
	for _, one := range all {
		if s.away == nil {
			s.rows[one.RuleID] = one
		}
	}
	return s.away
}

func (s *table) Suspensions(context.Context) (out []alert.Suspension, err error) {
	for _, one := range s.rows {
		out = append(out, one)
	}
	return out, nil
}

func (s *table) EndSuspensions(_ context.Context, ids []string) error {
	for _, id := range ids {
		delete(s.rows, id)
	}
	return nil
}

func (s *table) Now() time.Time { return s.now }

func (s *table) later(d time.Duration) { s.now, s.passed = s.now.Add(d), s.passed+d }

func (s *table) leader() *budget.Budget {
	return budget.New(budget.Deps{
		Store: s, Clock: s, Monotonic: func() time.Duration { return s.passed }, Logger: slog.New(slog.DiscardHandler),
	})
}

func newTable() *table {
	return &table{rows: map[string]alert.Suspension{}, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
}

func rule(id string) *alert.Rule {
	return &alert.Rule{Head: alert.Head{ID: id, Group: "ga", Enabled: true, Version: 3}, Type: alert.Expression}
}

// A rule beyond the budget does nothing for ten minutes, also under the next leader, and works
// again after them.
func TestASuspensionLastsTenMinutes(t *testing.T) {
	s := newTable()
	b := s.leader()
	require.NoError(t, b.Begin(t.Context(), nil))
	b.Spend(rule("r1"), alerting.GroupBudget)
	require.False(t, b.Suspended("r1"))
	b.Spend(rule("r1"), 1)
	require.True(t, b.Suspended("r1"), "at once")
	require.False(t, b.Suspended("r2"))
	require.NoError(t, b.Save(t.Context()))
	rules := map[string]*alert.Rule{"r1": rule("r1")}
	for range 2 {
		lasting, err := b.Look(t.Context(), rules, nil)
		require.NoError(t, err)
		require.Len(t, lasting, 1)
		require.Equal(t, s.now.Add(10*time.Minute), lasting[0].Until)
		require.True(t, b.Suspended("r1"))
		b = s.leader()
	}
	s.later(10 * time.Minute)
	lasting, err := b.Look(t.Context(), rules, nil)
	require.NoError(t, err)
	require.Empty(t, lasting)
	require.False(t, b.Suspended("r1"))
	require.Empty(t, s.rows, "the row is gone")
}

// A rule that is switched off and on again is still suspended; one that is deleted leaves no row.
func TestAnEditDoesNotEndASuspension(t *testing.T) {
	s := newTable()
	b := s.leader()
	b.Spend(rule("r1"), alerting.GroupBudget+1)
	require.NoError(t, b.Save(t.Context()))
	off := rule("r1")
	off.Enabled = false
	lasting, err := b.Look(t.Context(), map[string]*alert.Rule{"r1": off}, nil)
	require.NoError(t, err)
	require.Empty(t, lasting, "it would raise nothing anyway")
	require.True(t, b.Suspended("r1"))
	_, err = b.Look(t.Context(), nil, nil)
	require.NoError(t, err)
	require.Empty(t, s.rows)
}

// Patterns that are too large suspend a rule for as long as they are.
func TestRulesWithLargePatternsStaySuspended(t *testing.T) {
	s := newTable()
	b := s.leader()
	rules := map[string]*alert.Rule{"r1": rule("r1")}
	large := []alerting.Sized{{Rule: rules["r1"], Steps: 245}}
	for range 4 {
		lasting, err := b.Look(t.Context(), rules, large)
		require.NoError(t, err)
		require.Len(t, lasting, 1)
		require.Contains(t, lasting[0].Why, "245 steps")
		require.True(t, b.Suspended("r1"))
		s.later(6 * time.Minute)
	}
	_, err := b.Look(t.Context(), rules, []alerting.Sized{{Rule: rules["r1"], Steps: 90}})
	require.NoError(t, err)
	require.Empty(t, s.rows, "it was made smaller")
	require.NoError(t, b.Begin(t.Context(), nil))
	require.False(t, b.Suspended("r1"))
}

// While the store is away a suspension holds in memory, and is stored later.
func TestASuspensionIsStoredLater(t *testing.T) {
	s := newTable()
	b := s.leader()
	b.Spend(rule("r1"), alerting.GroupBudget+1)
	s.away = errors.New("away")
	require.Error(t, b.Save(t.Context()))
	require.True(t, b.Suspended("r1"))
	s.away = nil
	require.NoError(t, b.Begin(t.Context(), nil))
	require.Len(t, s.rows, 1)
	require.True(t, b.Suspended("r1"))
}

// A clock of the store that was set back does not make a suspension longer than twice its time.
func TestASuspensionOutlivesNoStepBack(t *testing.T) {
	s := newTable()
	b := s.leader()
	b.Spend(rule("r1"), alerting.GroupBudget+1)
	require.NoError(t, b.Save(t.Context()))
	s.now = s.now.Add(-time.Hour)
	_, err := b.Look(t.Context(), map[string]*alert.Rule{"r1": rule("r1")}, nil)
	require.NoError(t, err)
	require.Empty(t, s.rows)
}
