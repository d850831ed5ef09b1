package simulate

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func draw(t *testing.T, seed uint64, lasts time.Duration) []blow {
	t.Helper()
	failures, err := provoke(t.TempDir())
	require.NoError(t, err)
	return plan(rand.New(rand.NewPCG(seed, 1)), nodes, failures, lasts) //nolint:gosec // a seed is the point
}

// A seed draws the same faults each time, and another seed others.
func TestASeedDrawsTheSamePlan(t *testing.T) {
	first, again, other := draw(t, 7, time.Hour), draw(t, 7, time.Hour), draw(t, 8, time.Hour)
	require.Len(t, again, len(first))
	for i := range first {
		first[i].err.err, again[i].err.err = nil, nil // provoked anew
	}
	require.Equal(t, first, again)
	require.NotEqual(t, len(first), len(other))
}

// Each kind comes once before any comes again, so that an hour has each several times.
func TestEachKindComes(t *testing.T) {
	counts := map[Kind]int{}
	for _, b := range draw(t, 1, time.Hour) {
		counts[b.kind]++
	}
	all, err := Kinds(t.TempDir())
	require.NoError(t, err)
	for _, k := range all[:len(all)-len(userKinds())] {
		require.GreaterOrEqual(t, counts[k], 3, k)
	}
}

// Two blows at once do not undo each other.
func TestNoBlowUndoesAnother(t *testing.T) {
	all := draw(t, 3, 3*time.Hour)
	for i, a := range all {
		for _, b := range all[i+1:] {
			if b.at < a.at+a.span() && a.family() == b.family() && (a.node < 0 || b.node < 0 || a.node == b.node) {
				t.Errorf("%s at %s beside %s at %s", a.kind, a.at, b.kind, b.at)
			}
		}
	}
}

// A fire that was decided while the store's clock was ahead belongs to the schedule of then, whatever an edit says.
func TestAnEditWhileTimesRepeatLeavesWhatIsDecided(t *testing.T) {
	at := time.Date(2000, 1, 1, 0, 34, 50, 0, time.UTC)
	for name, c := range map[string]struct{ reached, from time.Time }{
		"steady":    {at.Add(5 * ms), at.Add(ms)},
		"was ahead": {at.Add(24 * time.Second), at.Add(24*time.Second + margin)},
	} {
		j := define("edited", work{}, func(j *job) { j.cron(10 * time.Second) })
		j.regrid(15*time.Second, &entity.Job{UpdateTime: at}, c.reached)
		require.Equal(t, c.from, j.From, name)
		require.Equal(t, at, j.Former[0].Until, name)
	}
}

// A node that has not asked the store for its time yet decides by that of before a step.
func TestTheLeastTimeIsThatOfBeforeAStepAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		require.Equal(t, w.now(), w.least())
		w.step(6 * time.Second)
		require.Equal(t, w.now().Add(-6*time.Second), w.least())
		time.Sleep(margin)
		require.Equal(t, w.now(), w.least(), "all have asked")
		w.step(-time.Hour)
		require.Equal(t, w.now(), w.least())
		w.step(time.Hour)
		require.Equal(t, w.now().Add(-time.Hour), w.least())
	})
}

func TestWhatIsAskedForIsRead(t *testing.T) {
	asked, err := Ask("17", "0.5", "1", "0")
	require.NoError(t, err)
	require.Equal(t, Asked{Seeds: []uint64{17}, For: 30 * time.Minute}, asked)
	asked, err = Ask("", "2", "3", "100")
	require.NoError(t, err)
	require.Len(t, asked.Seeds, 3)
	require.Equal(t, 100, asked.Each)
	for _, c := range [][5]string{
		{"abc", "1", "1", "0", "SEED=abc is no number: give the seed that a simulation has printed"},
		{"-1", "1", "1", "0", "SEED=-1 is no number"},
		{"1", "0", "1", "0", "HOURS=0 is no time to simulate: give hours of virtual time"},
		{"1", "-2", "1", "0", "HOURS=-2 is no time"},
		{"1", "NaN", "1", "0", "HOURS=NaN is no time"},
		{"1", "", "1", "0", "HOURS= is no time"},
		{"1", "25", "1", "0", "at most 24"},
		{"", "1", "0", "0", "SEEDS=0 is no count: say how many new seeds"},
		{"", "1", "1", "x", "EACH=x is no count"},
	} {
		_, err := Ask(c[0], c[1], c[2], c[3])
		require.ErrorContains(t, err, c[4])
	}
}
