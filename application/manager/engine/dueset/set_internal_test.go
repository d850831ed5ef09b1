package dueset

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func jobDueAt(id string, at time.Time) *entity.Job {
	return &entity.Job{ID: id, Version: 1, Status: entity.JobEnabled, NextFireTime: at, DueTime: at}
}

func bookWith(jobs ...*entity.Job) *Set {
	b := New(noon, 10*time.Second, 100)
	for _, j := range jobs {
		b.Upsert(j, nil)
	}
	return b
}

func idsOf(dueJobs []*Due) []string {
	out := make([]string, len(dueJobs))
	for i, h := range dueJobs {
		out[i] = h.Job.ID
	}
	return out
}

// Rule 5: of each batch that is large enough an eighth is for catching up while
// there is something to catch up with; the rest is for what is on time.
func TestWhatIsOnTimeIsTakenFirst(t *testing.T) {
	for name, c := range map[string]struct {
		late, onTime, limit  int
		wantFresh, wantLate  int
		thenFresh, thenLate2 int
	}{
		"only what is on time":     {0, 20, 16, 16, 0, 4, 0},
		"only what is late":        {20, 0, 16, 0, 16, 0, 4},
		"both in plenty":           {20, 20, 16, 14, 2, 6, 10},
		"room to spare":            {3, 3, 16, 3, 3, 0, 0},
		"few on time":              {20, 1, 16, 1, 15, 0, 5},
		"a small batch is on time": {5, 5, 2, 2, 0, 2, 0},
		"and so is a batch of one": {1, 1, 1, 1, 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := bookWith()
			for i := range c.late {
				b.Upsert(jobDueAt(fmt.Sprintf("late-%02d", i), noon.Add(-LateAfter-time.Second)), nil)
			}
			for i := range c.onTime {
				b.Upsert(jobDueAt(fmt.Sprintf("fresh-%02d", i), noon), nil)
			}
			onTime, late := split(b.Take(noon, c.limit))
			require.Equal(t, []int{c.wantFresh, c.wantLate}, []int{onTime, late})
			onTime, late = split(b.Take(noon, c.limit))
			require.Equal(t, []int{c.thenFresh, c.thenLate2}, []int{onTime, late})
		})
	}
}

// Rule 5: where slots come free one by one, or a few at a time, what is late gets
// one in eight of them, and none of the first.
func TestWhatIsLateTakesOneInEightOfTheSlots(t *testing.T) {
	for free := 1; free < LateShare; free++ {
		b := bookWith()
		for i := range 200 {
			late, fresh := jobDueAt(fmt.Sprintf("late-%03d", i), noon.Add(-time.Hour)),
				jobDueAt(fmt.Sprintf("fresh-%03d", i), noon)
			late.Priority, fresh.Priority = 1, 10
			b.Upsert(late, nil)
			b.Upsert(fresh, nil)
		}
		onTime, late := split(b.Take(noon, free))
		require.Equal(t, []int{free, 0}, []int{onTime, late})
		for onTime+late < 160 {
			f, l := split(b.Take(noon, free))
			onTime, late = onTime+f, late+l
		}
		require.InDelta(t, 20, late, 1, "room for %d at a time", free)
	}
}

func split(dueJobs []*Due) (onTime, late int) {
	for _, h := range dueJobs {
		if h.Job.DueTime.Before(noon) {
			late++
		} else {
			onTime++
		}
	}
	return onTime, late
}

func TestHintsAreTakenInTheOrderOfTheirDueTimes(t *testing.T) {
	b := bookWith(jobDueAt("c", noon.Add(2*time.Second)), jobDueAt("a", noon), jobDueAt("b", noon.Add(time.Second)))
	require.Equal(t, []string{"a"}, idsOf(b.Take(noon, 9)))
	require.Equal(t, []string{"b", "c"}, idsOf(b.Take(noon.Add(5*time.Second/2), 9)))
	require.Empty(t, b.Take(noon.Add(time.Minute), 9))
}

// Rule 15: what is most urgent goes first, whatever order it came due in, and
// what is not waits in the order in which it did.
func TestTheMostUrgentIsTakenFirst(t *testing.T) {
	b := bookWith()
	for i, priority := range []int{5, 1, 10, 5, 10} {
		job := jobDueAt(fmt.Sprintf("%d-of-%d", i, priority), noon.Add(time.Duration(i)*time.Millisecond))
		job.Priority = priority
		b.Upsert(job, nil)
	}
	at := noon.Add(time.Second)
	require.Equal(t, []string{"2-of-10", "4-of-10", "0-of-5"}, idsOf(b.Take(at, 3)))
	urgent := jobDueAt("later-of-10", at)
	urgent.Priority = 10
	b.Upsert(urgent, nil)
	b.Waiting(at)
	b.RetainPartitions(nil)
	require.Equal(t, []string{"later-of-10", "3-of-5", "1-of-1"}, idsOf(b.Take(at, 9)))
	require.Zero(t, b.Waiting(at))
}

// Rule 12: due jobs are replaced by what is newer, and left alone while they are
// being fired: that transaction says what comes next.
func TestAHintIsHeldOnceForEachJob(t *testing.T) {
	b := bookWith(jobDueAt("a", noon))
	b.Upsert(jobDueAt("a", noon), nil)
	require.Equal(t, 99, b.Free())
	b.Upsert(jobDueAt("a", noon.Add(time.Second)), nil)
	require.Empty(t, b.Take(noon, 9), "it was moved")
	b.Upsert(jobDueAt("a", noon), nil)
	require.Equal(t, 1, b.Waiting(noon))
	b.Upsert(jobDueAt("a", noon.Add(time.Second)), nil)
	taken := b.Take(noon, 9)
	require.Len(t, taken, 1, "what is due already stays in its queue, with the newer state")
	require.Equal(t, noon.Add(time.Second), taken[0].Job.NextFireTime)
	b.Upsert(jobDueAt("a", noon), nil)
	b.Remove("a")
	require.Empty(t, b.Take(noon.Add(time.Minute), 9), "it is being fired")
	require.Equal(t, 99, b.Free())
	b.FinishFiring(taken[0], jobDueAt("a", noon.Add(3*time.Second)), noon)
	require.Equal(t, []string{"a"}, idsOf(b.Take(noon.Add(3*time.Second), 9)))
}

func TestWhatIsNotDueSoonLeavesTheBook(t *testing.T) {
	for name, next := range map[string]*entity.Job{
		"a wrong hint":           nil,
		"beyond the horizon":     jobDueAt("a", noon.Add(11*time.Second)),
		"without another fire":   {ID: "a", Status: entity.JobFinished},
		"paused in the meantime": {ID: "a", Status: entity.JobPaused, NextFireTime: noon, DueTime: noon},
	} {
		t.Run(name, func(t *testing.T) {
			b := bookWith(jobDueAt("a", noon))
			b.FinishFiring(b.Take(noon, 1)[0], next, noon)
			require.Equal(t, 100, b.Free())
			require.Empty(t, b.Take(noon.Add(time.Hour), 9))
		})
	}
	b := bookWith(jobDueAt("a", noon))
	b.Remove("a")
	b.Remove("unknown")
	require.Equal(t, 100, b.Free())
}

// The scan reads what the due set does not hold for that moment.
func TestTheScanAsksForWhatTheBookDoesNotKnow(t *testing.T) {
	b := bookWith(jobDueAt("same", noon.Add(time.Second)), jobDueAt("moved", noon.Add(time.Second)),
		jobDueAt("firing", noon))
	b.Take(noon, 1)
	key := func(id string, at time.Time) repository.DueKey { return repository.DueKey{ID: id, DueTime: at} }
	require.Equal(t, []string{"moved", "new"}, b.Unknown([]repository.DueKey{
		key("same", noon.Add(time.Second)), key("moved", noon), key("firing", noon.Add(time.Minute)), key("new", noon),
	}))
}

// A sleeper until the earliest due job is woken by an earlier one.
func TestAnEarlierHintWakesTheSleepers(t *testing.T) {
	b := bookWith()
	_, ok, changed := b.Next()
	require.False(t, ok)
	b.Upsert(jobDueAt("a", noon.Add(2*time.Second)), nil)
	requireClosed(t, changed, true)
	at, ok, changed := b.Next()
	require.True(t, ok)
	require.Equal(t, noon.Add(2*time.Second), at)
	b.Upsert(jobDueAt("b", noon.Add(3*time.Second)), nil)
	requireClosed(t, changed, false)
	b.Upsert(jobDueAt("c", noon.Add(time.Second)), nil)
	requireClosed(t, changed, true)
	_, _, changed = b.Next()
	b.Wake()
	requireClosed(t, changed, true)
}

func requireClosed(t *testing.T, c <-chan struct{}, want bool) {
	t.Helper()
	closed := false
	select {
	case <-c:
		closed = true
	default:
	}
	require.Equal(t, want, closed)
}

// Many jobs of one shard do not wait behind a few of many, and those get their
// turn all the same.
func TestHeavyJobsLetTheOthersGoFirst(t *testing.T) {
	b := New(noon, 10*time.Second, 1000)
	for i := range 10 {
		heavy := jobDueAt(fmt.Sprintf("heavy-%d", i), noon)
		heavy.ShardCount, heavy.Priority = 1024, 5
		b.Upsert(heavy, nil)
	}
	for i := range 100 {
		light := jobDueAt(fmt.Sprintf("light-%02d", i), noon.Add(time.Millisecond))
		light.Priority = 5
		b.Upsert(light, nil)
	}
	urgent := jobDueAt("urgent", noon)
	urgent.ShardCount, urgent.Priority = 1024, 10
	b.Upsert(urgent, nil)
	at := noon.Add(time.Second)
	first := idsOf(b.Take(at, 50))
	require.Equal(t, "urgent", first[0], "priorities are strict")
	require.Equal(t, "heavy-0", first[49], "one of the batch")
	require.Len(t, b.Take(at, 50), 50)
	require.Len(t, idsOf(b.Take(at, 50)), 11, "the rest")
	for i := range 20 {
		b.FinishFiring(b.held[fmt.Sprintf("light-%02d", i)], nil, noon)
		b.Upsert(jobDueAt(fmt.Sprintf("light-%02d", i), noon), nil)
	}
	one := jobDueAt("heavy-one", noon)
	one.ShardCount = 1024
	b.Upsert(one, nil)
	var taken []string
	for range 10 {
		taken = append(taken, idsOf(b.Take(at, 1))...)
	}
	require.Equal(t, 7, slices.Index(taken, "heavy-one"), "one by one: after an eighth of them")
}

// A job that does not fit into a batch is the first of the next.
func TestWhatIsGivenBackIsTakenNext(t *testing.T) {
	b := bookWith()
	for i := range 6 {
		b.Upsert(jobDueAt(fmt.Sprint(i), noon), nil)
	}
	taken := b.Take(noon, 4)
	b.GiveBack(taken[1:])
	require.Equal(t, 5, b.Waiting(noon))
	require.Equal(t, []string{"1", "2", "3", "4", "5"}, idsOf(b.Take(noon, 9)))
}
