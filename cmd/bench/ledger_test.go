package bench

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// at is an entry of a job's fire, so many ms late.
func at(job uint32, second int, attempt uint8, lateMs int64) sighting {
	nominal := noon.Add(time.Duration(second) * time.Second).UnixMilli()
	return sighting{job: job, nominal: nominal, attempt: attempt, at: (nominal + lateMs) * 1000, node: 1}
}

// everySecond plans jobs that fire each second from noon.
func everySecond(jobs int) *ledger {
	l := newLedger(10)
	for i := range jobs {
		l.plan(i, noon, time.Second)
	}
	return l
}

func TestTheLedgerFindsWhatIsLostAndDoubled(t *testing.T) {
	two := noon.Add(2 * time.Second)
	good := []sighting{at(0, 0, 1, 3), at(0, 1, 1, 3), at(1, 0, 1, 3), at(1, 1, 1, 3)}
	for name, c := range map[string]struct {
		seen []sighting
		want tally
	}{
		"all of it":             {good, tally{4, 0, 0}},
		"nothing":               {nil, tally{4, 4, 0}},
		"one is lost":           {good[1:], tally{4, 1, 0}},
		"one is doubled":        {append([]sighting{at(0, 1, 1, 9)}, good...), tally{4, 0, 1}},
		"doubled and lost":      {append([]sighting{at(0, 1, 1, 9)}, good[1:]...), tally{4, 1, 1}},
		"a retry is no double":  {append([]sighting{at(0, 1, 2, 9)}, good...), tally{4, 0, 0}},
		"first seen as a retry": {append([]sighting{at(0, 0, 2, 9)}, good[1:]...), tally{4, 0, 0}},
		"a doubled retry":       {append([]sighting{at(0, 1, 2, 8), at(0, 1, 2, 9)}, good...), tally{4, 0, 1}},
		"one beyond the moment": {append([]sighting{at(0, 2, 1, 9)}, good...), tally{4, 0, 0}},
		"one before the first":  {append([]sighting{at(0, -1, 1, 9)}, good...), tally{4, 0, 1}},
		"one between two":       {append([]sighting{{job: 0, nominal: noon.UnixMilli() + 500, attempt: 1}}, good...), tally{4, 0, 1}},
		"of an unknown job":     {append([]sighting{at(7, 0, 1, 9)}, good...), tally{4, 0, 1}},
	} {
		l := everySecond(2)
		l.see(c.seen...)
		require.Equal(t, c.want, l.account(two), name)
	}
}

func TestOneFireIsPlannedOnce(t *testing.T) {
	l := newLedger(1)
	l.plan(3, noon, 0)
	require.Equal(t, tally{1, 1, 0}, l.account(noon.Add(time.Hour)))
	require.Equal(t, tally{}, l.account(noon))
	l.see(at(3, 0, 1, 0), at(3, 1, 1, 0))
	require.Equal(t, tally{1, 0, 1}, l.account(noon.Add(time.Hour)), "the second fire was not planned")
}

func TestLatenessIsThatOfFirstAttemptsFromAMoment(t *testing.T) {
	l := everySecond(1)
	l.see(at(0, 0, 1, 900), at(0, 1, 1, 5), at(0, 2, 1, 7), at(0, 2, 2, 5000))
	require.Equal(t, &Lateness{P50: 5, P99: 7, Max: 7}, l.lateness(noon.Add(time.Second)))
	require.InDelta(t, 7000, l.lastAfter(noon), 0.001)
	require.Equal(t, 1, l.retried())
}

func TestTheRecordsOfTheStoreAreChecked(t *testing.T) {
	record := func(s sighting) row { return row{fire{s.job, s.nominal}, entity.StatusSuccess, s.at} }
	first, second, again := at(0, 0, 1, 3), at(0, 1, 1, 3), at(0, 1, 2, 9000)
	failed := record(first)
	failed.status = entity.StatusRunning
	for name, c := range map[string]struct {
		rows []row
		want Rows
	}{
		"good":               {[]row{record(first), record(again)}, Rows{Rows: 2}},
		"one is missing":     {[]row{record(again)}, Rows{Rows: 1, Missing: 1}},
		"one is there twice": {[]row{record(first), record(first), record(again)}, Rows{Rows: 3, Twice: 1}},
		"one is unplanned":   {[]row{record(first), record(again), record(at(4, 0, 1, 0))}, Rows{Rows: 3, Twice: 1}},
		"one did not end":    {[]row{failed, record(again)}, Rows{Rows: 2, Unfinished: 1}},
		"a late result":      {[]row{record(first), record(second)}, Rows{Rows: 2, Stale: 1}},
		"one beyond":         {[]row{record(first), record(again), record(at(0, 2, 1, 0))}, Rows{Rows: 2}},
	} {
		l := everySecond(1)
		l.see(first, second, again)
		c.want.Retried = 1
		require.Equal(t, &c.want, l.check(c.rows, noon.Add(2*time.Second)), name)
	}
}

func TestAFormerAttemptMayBeEnteredLate(t *testing.T) {
	l := everySecond(1)
	zombie, again := at(0, 0, 1, 20_000), at(0, 0, 2, 9000)
	l.see(again, zombie)
	rows := []row{{fire{0, noon.UnixMilli()}, entity.StatusSuccess, again.at}}
	require.Equal(t, &Rows{Rows: 1, Retried: 1, Superseded: 1}, l.check(rows, noon.Add(time.Second)))
	rows[0].start = zombie.at
	require.Equal(t, 1, l.check(rows, noon.Add(time.Second)).Stale, "its result must not stand")
}

func TestRecordsSurviveTheWay(t *testing.T) {
	want := sighting{nominal: noon.UnixMilli(), at: noon.UnixMicro() + 7, job: 70_000, recorded: 1234, taken: 12_345, attempt: 3, node: 2, long: true}
	here := place{epoch: 5}
	here.add(0)
	here.add(255)
	var stream bytes.Buffer
	tell := &teller{out: &stream}
	tell.entries(want)
	require.Zero(t, stream.Len(), "it is kept until the next flush")
	tell.put(here.record())
	tell.put(number(recordEnds, 1<<40))
	tell.flush()
	stream.WriteString("a piece of a record")
	var got []record
	readRecords(iotest.HalfReader(iotest.OneByteReader(&stream)), func(some []record) { got = append(got, some...) })
	require.Len(t, got, 3)
	require.Equal(t, want, got[0].sighting(2))
	require.Equal(t, here, got[1].place())
	require.Equal(t, int64(1<<40), got[2].number())
}

func TestAnEagerTellerKeepsNothingBack(t *testing.T) {
	out, in := io.Pipe()
	go func() { (&teller{out: in, eager: true}).entries(at(1, 0, 1, 0)) }()
	raw := make([]byte, len(record{}))
	_, err := io.ReadFull(out, raw)
	require.NoError(t, err)
}
