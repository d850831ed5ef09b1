package monitoring_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func (d *desk) load(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	require.NoError(d, err)
	return zone
}

// Hours become days of the server's zone, also where its clock changes: a day of 25
// hours has the ends of all of them, and those that come late are added.
func TestHoursBecomeDaysOfTheZone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		d.zone = d.load("Europe/Berlin")
		// On 2026-10-25 clocks go back there: the day lasts from 22:00 to 23:00 in UTC.
		begin := time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC)
		hourly := func(first, last int) {
			for h := first; h <= last; h++ {
				d.add(d.end(0, entity.StatusSuccess, func(e *entity.Execution) {
					e.EndTime = begin.Add(time.Duration(h) * time.Hour)
					e.StartTime = e.EndTime.Add(-time.Second)
					e.DueTime = e.StartTime
				}))
			}
		}
		hourly(-1, 25)
		leader := d.fold(d.faults)
		d.drain(leader)
		d.faults.Next("fold-merge", enginetest.LostReply, enginetest.LostCommit, enginetest.LostReply, enginetest.Deadlock)
		for range 3 {
			_, err := leader.Periods(t.Context())
			require.Error(t, err)
		}
		_, err := leader.Periods(t.Context())
		require.NoError(t, err)
		hourly(3, 5)
		d.drain(leader)
		_, err = leader.Periods(t.Context())
		require.NoError(t, err)

		job, _ := identity.Bytes(d.jobs[0].ID)
		rows, err := d.store.Statistics.SumRows(t.Context(), repository.SumsQuery{Job: job, Hours: always, Days: always})
		require.NoError(t, err)
		runs := map[string]int64{}
		for _, row := range rows {
			require.Equal(t, statistics.Day, row.Period)
			require.Equal(t, row.Row.Runs, row.Row.Duration.Count())
			runs[time.UnixMilli(row.Start).In(d.zone).Format("2006-01-02 15:04 MST")] = row.Row.Runs
		}
		require.Equal(t, map[string]int64{
			"2026-10-24 00:00 CEST": 1, "2026-10-25 00:00 CEST": 28, "2026-10-26 00:00 CET": 1,
		}, runs)
	})
}

// Rows of hours stay while a batch is open: its parts may be among them.
func TestHoursStayWhileABatchIsOpen(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t))
	d.add(d.end(0, entity.StatusSuccess, func(e *entity.Execution) { e.EndTime = enginetest.Noon.AddDate(0, 0, -9) }))
	d.faults.Next("fold-close", enginetest.LostCommit)
	leader := d.fold(d.faults)
	_, err := leader.RunOnce(t.Context())
	require.Error(t, err)
	n, err := leader.Periods(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	d.drain(leader)
	d.check()
	n, err = leader.Periods(t.Context())
	require.NoError(t, err)
	require.Equal(t, 4, n, "job, cluster, group and node")
}

// Hours stay for three days, days for 400.
func TestOldDaysGo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		leader := d.fold(d.store)
		d.add(d.end(0, entity.StatusSuccess, nil))
		d.drain(leader)
		d.clock.Advance(71 * time.Hour)
		n, err := leader.Periods(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
		d.clock.Advance(25 * time.Hour)
		_, err = leader.Periods(t.Context())
		require.NoError(t, err)
		count := func() int { return len(d.rows()) }
		require.Equal(t, 4, count())
		d.clock.Advance(395 * 24 * time.Hour)
		_, err = leader.Periods(t.Context())
		require.NoError(t, err)
		require.Equal(t, 4, count())
		d.clock.Advance(48 * time.Hour)
		_, err = leader.Periods(t.Context())
		require.NoError(t, err)
		require.Zero(t, count())
	})
}

// A fire whose last shard never ends counts as it is after a week, once.
func TestAFireThatMissesAShardCountsAfterAWeek(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		leader := d.fold(d.faults)
		ends := d.shardEnds(1, 3)[:2]
		d.add(ends...)
		d.drain(leader)
		d.check()
		d.clock.Advance(6 * 24 * time.Hour)
		n, err := leader.Periods(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n, "the hour of the node becomes a day")
		d.clock.Advance(25 * time.Hour)
		d.faults.Next("fold-expire", enginetest.LostReply)
		_, err = leader.Periods(t.Context())
		require.Error(t, err)
		for range 2 {
			_, err = leader.Periods(t.Context())
			require.NoError(t, err)
		}
		d.expectRun(ends)
		days := map[repository.SumKey]*statistics.Row{}
		for k, row := range d.want {
			k.Period, k.Start = statistics.Day, statistics.DayOf(time.UnixMilli(k.Start), d.zone).UnixMilli()
			days[k] = row
		}
		_, err = leader.Periods(t.Context())
		require.NoError(t, err)
		d.want = days
		d.check()
	})
}

// A fire that counts, and could not be forgotten, does not count again after a week.
func TestAFireThatCountsIsOnlyForgotten(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t))
	leader := d.fold(d.faults)
	ends := d.shardEnds(1, 3)
	d.add(ends...)
	d.expectRun(ends)
	d.faults.Next("fold-drop-fires", enginetest.LostCommit)
	_, err := leader.RunOnce(t.Context())
	require.Error(t, err)
	d.check()
	kept, err := d.store.Statistics.OpenedBefore(t.Context(), d.clock.Now().Add(time.Hour), 10)
	require.NoError(t, err)
	require.Len(t, kept, 1)
	d.clock.Advance(7*24*time.Hour + time.Minute)
	_, err = leader.Periods(t.Context())
	require.NoError(t, err)
	days := map[repository.SumKey]*statistics.Row{}
	for k, row := range d.want {
		k.Period, k.Start = statistics.Day, statistics.DayOf(time.UnixMilli(k.Start), d.zone).UnixMilli()
		days[k] = row
	}
	d.want = days
	d.check()
	kept, err = d.store.Statistics.OpenedBefore(t.Context(), d.clock.Now(), 10)
	require.NoError(t, err)
	require.Empty(t, kept)
}

// The two tables of a store hold what was put there, in any number.
func TestRowsOfManyKeysAreRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		rows := map[repository.SumKey]*statistics.StoredRow{}
		var keys []repository.SumKey
		for i := range 1200 {
			key := repository.SumKey{Period: statistics.Hour, Start: int64(i%2) * 3_600_000}
			if i%3 == 0 {
				key.Kind, key.Name = statistics.KindGroup, string(rune('a'+i%26))+"ü\x00\xff"+string(rune(0x4e00+i))
			} else {
				key.Job = repository.BinaryID{byte(i), byte(i >> 8), 0xff}
			}
			row := &statistics.StoredRow{FoldSeq: int64(i)}
			row.Runs = int64(i)
			row.Duration.Add(time.Duration(i) * time.Second)
			keys, rows[key] = append(keys, key), row
		}
		put := func() {
			d.write(func(ctx context.Context, tx repository.Tx) error { return tx.Statistics.PutSums(ctx, keys, rows) })
		}
		put()
		for _, row := range rows {
			row.Runs++
		}
		put()
		d.write(func(ctx context.Context, tx repository.Tx) error {
			got, unreadable, err := tx.Statistics.Sums(ctx, append(keys, repository.SumKey{Period: statistics.Day}))
			require.NoError(t, err)
			require.Empty(t, unreadable)
			require.Equal(t, rows, got)
			require.NoError(t, tx.Statistics.DropSums(ctx, keys[:600]))
			got, _, err = tx.Statistics.Sums(ctx, keys)
			require.NoError(t, err)
			require.Len(t, got, 600)
			return nil
		})
	})
}
