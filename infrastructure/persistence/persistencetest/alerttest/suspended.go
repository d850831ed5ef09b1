package alerttest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Suspended runs the suite over stores that open gives: which rules do nothing for some time.
func Suspended(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	require.NoError(t, s.SuspendRules(t.Context(), nil))
	require.NoError(t, s.EndSuspensions(t.Context(), nil))
	a := alert.Suspension{RuleID: "default-failed", Until: storetest.Noon, Cost: 1 << 40, Why: "too dear 😀"}
	b := alert.Suspension{RuleID: storetest.JobID(2), Until: storetest.Noon.Add(time.Millisecond), Why: "too large"}
	require.NoError(t, s.SuspendRules(t.Context(), []alert.Suspension{a, b}))
	got, err := s.Suspensions(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []alert.Suspension{a, b}, got)

	a.Until, a.Cost, a.Why = storetest.Noon.Add(time.Hour), 0, strings.Repeat("é", 5000)
	require.NoError(t, s.SuspendRules(t.Context(), []alert.Suspension{a}), "a later one takes the place of the former")
	require.NoError(t, s.EndSuspensions(t.Context(), []string{b.RuleID, "nobody"}))
	got, err = s.Suspensions(t.Context())
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, a.Until, got[0].Until)
	require.NotEmpty(t, got[0].Why, "a long reason is cut")
}
