package schedule

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCompilerSharesWhatItHasMet(t *testing.T) {
	t.Parallel()
	c := NewCompiler()
	spec := Spec{Kind: Cron, CronExpression: "0 0/5 * * * ?", TimeZone: "America/New_York"}
	first, err := c.Compile(spec)
	require.NoError(t, err)
	second, err := c.Compile(spec)
	require.NoError(t, err)
	require.Same(t, first.expr, second.expr)
	require.Same(t, first.zone, second.zone)
	spec.Dialect, spec.CronExpression = "UNIX", "0 0 * * 1"
	unix, err := c.Compile(spec)
	require.NoError(t, err)
	spec.Dialect = "QUARTZ"
	_, err = c.Compile(spec)
	require.Error(t, err, "the dialect is part of what is remembered")
	require.NotSame(t, first.expr, unix.expr)
}

func TestCompilerMemoryIsBoundedAndConcurrent(t *testing.T) {
	t.Parallel()
	c := NewCompiler()
	c.expressions.limit = 64
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 2_000 {
				spec := Spec{
					Kind: Cron, CronExpression: fmt.Sprintf("%d %d %d * * ?", i%60, i/60%60, worker),
					TimeZone: "Asia/Shanghai",
				}
				s, err := c.Compile(spec)
				if err != nil || s.expr == nil || size(&c.expressions) > 64+4 {
					t.Errorf("compile %q: %v, %d remembered", spec.CronExpression, err, size(&c.expressions))
					return
				}
			}
		})
	}
	group.Wait()
	require.LessOrEqual(t, size(&c.expressions), 64)
	require.Equal(t, 1, size(&c.zones))
}

func TestWhatIsAskedForOutlivesTheRest(t *testing.T) {
	t.Parallel()
	m := memory[int, int]{limit: 8}
	m.put(-1, 7)
	for i := range 100 {
		m.put(i, i)
		value, ok := m.get(-1)
		require.True(t, ok)
		require.Equal(t, 7, value)
	}
	_, ok := m.get(3)
	require.False(t, ok)
}

func BenchmarkCompile(b *testing.B) {
	c := NewCompiler()
	spec := Spec{Kind: Cron, CronExpression: "0 0/5 9-17 ? * MON-FRI", TimeZone: "America/New_York"}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = c.Compile(spec)
	}
}

func BenchmarkLatestAcrossAYearOfSeconds(b *testing.B) {
	s, err := NewCompiler().Compile(Spec{Kind: Cron, CronExpression: "* * 9-17 * * ?", TimeZone: "America/New_York"})
	require.NoError(b, err)
	from := time.Date(2025, 3, 3, 15, 0, 0, 0, time.UTC)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.LatestAtOrBefore(from, from.AddDate(1, 0, 0))
	}
}

// size is the number of entries held.
func size[K comparable, V any](m *memory[K, V]) int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.young) + len(m.old)
}
