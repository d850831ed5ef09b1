package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is an entry of a job's fire, so many ms late.
func at(job uint32, second int, attempt uint8, lateMs int64) StartEvent {
	scheduled := noon.Add(time.Duration(second) * time.Second).UnixMilli()
	return StartEvent{Job: job, ScheduledTime: scheduled, Attempt: attempt, At: (scheduled + lateMs) * 1000, Node: 1}
}

// everySecond plans jobs that fire each second from noon.
func everySecond(jobs int) *Ledger {
	l := NewLedger(10)
	for i := range jobs {
		l.Plan(i, noon, time.Second)
	}
	return l
}

func TestTheLedgerFindsWhatIsLostAndDoubled(t *testing.T) {
	two := noon.Add(2 * time.Second)
	good := []StartEvent{at(0, 0, 1, 3), at(0, 1, 1, 3), at(1, 0, 1, 3), at(1, 1, 1, 3)}
	for name, c := range map[string]struct {
		seen []StartEvent
		want Tally
	}{
		"all of it":             {good, Tally{4, 0, 0}},
		"nothing":               {nil, Tally{4, 4, 0}},
		"one is lost":           {good[1:], Tally{4, 1, 0}},
		"one is doubled":        {append([]StartEvent{at(0, 1, 1, 9)}, good...), Tally{4, 0, 1}},
		"doubled and lost":      {append([]StartEvent{at(0, 1, 1, 9)}, good[1:]...), Tally{4, 1, 1}},
		"a retry is no double":  {append([]StartEvent{at(0, 1, 2, 9)}, good...), Tally{4, 0, 0}},
		"first seen as a retry": {append([]StartEvent{at(0, 0, 2, 9)}, good[1:]...), Tally{4, 0, 0}},
		"a doubled retry":       {append([]StartEvent{at(0, 1, 2, 8), at(0, 1, 2, 9)}, good...), Tally{4, 0, 1}},
		"one beyond the moment": {append([]StartEvent{at(0, 2, 1, 9)}, good...), Tally{4, 0, 0}},
		"one before the first":  {append([]StartEvent{at(0, -1, 1, 9)}, good...), Tally{4, 0, 1}},
		"one between two": {
			append([]StartEvent{{Job: 0, ScheduledTime: noon.UnixMilli() + 500, Attempt: 1}}, good...),
			Tally{4, 0, 1},
		},
		"of an unknown job": {append([]StartEvent{at(7, 0, 1, 9)}, good...), Tally{4, 0, 1}},
	} {
		l := everySecond(2)
		l.See(c.seen...)
		require.Equal(t, c.want, l.Account(two), name)
	}
}

func TestOneFireIsPlannedOnce(t *testing.T) {
	l := NewLedger(1)
	l.Plan(3, noon, 0)
	require.Equal(t, Tally{1, 1, 0}, l.Account(noon.Add(time.Hour)))
	require.Equal(t, Tally{}, l.Account(noon))
	l.See(at(3, 0, 1, 0), at(3, 1, 1, 0))
	require.Equal(t, Tally{1, 0, 1}, l.Account(noon.Add(time.Hour)), "the second fire was not planned")
}

func TestLatenessIsThatOfFirstAttemptsFromAMoment(t *testing.T) {
	l := everySecond(1)
	l.See(at(0, 0, 1, 900), at(0, 1, 1, 5), at(0, 2, 1, 7), at(0, 2, 2, 5000))
	require.Equal(t, &Quantiles{P50: 5, P99: 7, Max: 7}, l.Lateness(noon.Add(time.Second)))
	require.InDelta(t, 7000, l.LastAfter(noon), 0.001)
	require.Equal(t, 1, l.retried())
}

func TestTheRecordsOfTheStoreAreChecked(t *testing.T) {
	record := func(s StartEvent) Row { return Row{Fire{s.Job, s.ScheduledTime}, entity.StatusSuccess, s.At} }
	first, second, again := at(0, 0, 1, 3), at(0, 1, 1, 3), at(0, 1, 2, 9000)
	failed := record(first)
	failed.Status = entity.StatusRunning
	for name, c := range map[string]struct {
		rows []Row
		want Rows
	}{
		"good":               {[]Row{record(first), record(again)}, Rows{Rows: 2}},
		"one is missing":     {[]Row{record(again)}, Rows{Rows: 1, Missing: 1}},
		"one is there twice": {[]Row{record(first), record(first), record(again)}, Rows{Rows: 3, Twice: 1}},
		"one is unplanned":   {[]Row{record(first), record(again), record(at(4, 0, 1, 0))}, Rows{Rows: 3, Twice: 1}},
		"one did not end":    {[]Row{failed, record(again)}, Rows{Rows: 2, Unfinished: 1}},
		"a late result":      {[]Row{record(first), record(second)}, Rows{Rows: 2, Stale: 1}},
		"one beyond":         {[]Row{record(first), record(again), record(at(0, 2, 1, 0))}, Rows{Rows: 2}},
	} {
		l := everySecond(1)
		l.See(first, second, again)
		c.want.Retried = 1
		require.Equal(t, &c.want, l.Check(c.rows, noon.Add(2*time.Second)), name)
	}
}

func TestAFormerAttemptMayBeEnteredLate(t *testing.T) {
	l := everySecond(1)
	zombie, again := at(0, 0, 1, 20_000), at(0, 0, 2, 9000)
	l.See(again, zombie)
	rows := []Row{{Fire{0, noon.UnixMilli()}, entity.StatusSuccess, again.At}}
	require.Equal(t, &Rows{Rows: 1, Retried: 1, Superseded: 1}, l.Check(rows, noon.Add(time.Second)))
	rows[0].Start = zombie.At
	require.Equal(t, 1, l.Check(rows, noon.Add(time.Second)).Stale, "its result must not stand")
}
