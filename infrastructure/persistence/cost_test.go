package persistence_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// cost is the price of a batch of plain executions: fires of one shard of jobs
// that nothing limits, routes or retries.
type cost struct {
	// scan finds the due jobs, and asks which groups some jobs do not follow yet:
	// a node asks that at most once in half a second, however much it plans.
	// wait records their runs as WAITING, where the node has no room, and claim
	// takes them; fire records them as RUNNING at once; end stores how they ended.
	scan, wait, claim, fire, end traffic
}

// TestWhatPlainExecutionsCost holds the hot path to its price. An addition is a
// decision: it changes a figure here, and its commit says why. A saving changes
// the figure, too, or the next addition would not be seen.
//
// Against commit ecf3e51 there are three additions. A batch of ends has one statement, one
// row, 4 values and 122 bytes more, and 23 bytes for each end: the digest of which
// statistics are made. A scan has one statement more, of
// 201 bytes, which asks for groups, and says 4 bytes less of each job. On MariaDB
// wait and fire have 45 bytes more a batch: no wait for the rows of jobs.
func TestWhatPlainExecutionsCost(t *testing.T) {
	for _, c := range []struct {
		store string
		jobs  int
		want  cost
	}{
		{"sqlite", 1, cost{
			scan: price(3, 2, 51, 1595), wait: price(4, 2, 24, 901), claim: price(4, 2, 47, 1255),
			fire: price(4, 2, 24, 922), end: price(4, 2, 13, 606),
		}},
		{"sqlite", 100, cost{
			scan: price(3, 200, 4803, 58322), wait: price(118, 200, 1140, 55597), claim: price(4, 200, 3710, 31450),
			fire: price(118, 200, 1140, 55933), end: price(103, 101, 904, 46443),
		}},
		{"mariadb", 1, cost{
			scan: price(3, 2, 51, 1583), wait: price(4, 2, 24, 1102), claim: price(4, 2, 47, 1262),
			fire: price(4, 2, 24, 1123), end: price(4, 2, 17, 780),
		}},
		{"mariadb", 100, cost{
			scan: price(3, 200, 4902, 58211), wait: price(4, 200, 321, 12857), claim: price(4, 200, 3809, 31358),
			fire: price(4, 200, 321, 12878), end: price(4, 101, 116, 7017),
		}},
		{"mysql", 1, cost{
			scan: price(3, 2, 51, 1583), wait: price(4, 2, 24, 1029), claim: price(4, 2, 47, 1262),
			fire: price(4, 2, 24, 1050), end: price(4, 2, 17, 752),
		}},
		{"mysql", 100, cost{
			scan: price(3, 200, 4902, 58211), wait: price(4, 200, 1806, 35580), claim: price(4, 200, 3809, 31358),
			fire: price(4, 200, 1806, 37680), end: price(4, 101, 116, 8474),
		}},
	} {
		t.Run(fmt.Sprint(c.store, "/", c.jobs), func(t *testing.T) {
			cfg, plain := dbtest.SQLite(t), false
			if c.store != "sqlite" {
				dbtest.NeedMySQL(t)
				// The statements for MySQL 8 run on MariaDB, too; not the other way round.
				cfg, plain = dbtest.Migrated(t), c.store == "mysql"
			}
			if got, ok := measured(t, cfg, plain, c.jobs); ok || plain {
				require.Equal(t, c.want, got)
			}
		})
	}
}

func price(statements, rows, values, bytes int) traffic {
	return traffic{Statements: statements, Rows: rows, Values: values, Bytes: bytes}
}

// measured sends so many plain jobs through a node in one batch, once claimed
// and once started by who fires them. It is not ok on a MySQL 8 that was not to
// be treated as one.
func measured(t *testing.T, cfg persistence.Config, plain bool, jobs int) (c cost, ok bool) {
	clock := clocktest.NewManual(enginetest.Noon)
	cfg.Clock = clock
	s, meter := metered(t, cfg, plain)
	n := enginetest.On(t, s, enginetest.Options{
		Clock: clock, Slots: 4 * jobs, BatchSize: jobs, Linger: time.Hour,
		Ends: []event.EndObserver{monitoring.NewDigests(slog.New(slog.DiscardHandler))},
	})
	for i := range jobs {
		n.Add(t, enginetest.Job(fmt.Sprintf("plain-%03d", i), enginetest.Every(time.Minute)))
	}
	show := func(what string, sum traffic, statements []string) traffic {
		t.Logf("%s: %+v\n\t%s", what, sum, strings.Join(shortened(statements), "\n\t"))
		return sum
	}
	reads := func(what string) traffic { sum, all := meter.Reads(); return show(what, sum, all) }
	writes := func(what string) traffic {
		sum, all := meter.Transactions()
		meter.Reset()
		return show(what, sum, all)
	}
	fire := func() {
		fired, err := n.Planner.FireDue(t.Context())
		require.NoError(t, err)
		require.Equal(t, jobs, fired)
	}

	n.Runner.Suspend(true)
	meter.Reset()
	_, err := n.Planner.Scan(t.Context())
	require.NoError(t, err)
	c.scan = reads("scan")
	meter.Reset()
	fire()
	c.wait = writes("wait")
	release := n.Script.Hold()
	n.Runner.Suspend(false)
	n.Start(t)
	n.Script.Await(t, jobs)
	c.claim = writes("claim")
	// Ends are stored together while nothing presses: nothing more is to be claimed.
	require.Eventually(t, func() bool {
		return n.Runner.WaitForSlots(t.Context(), 0) > 0
	}, 20*time.Second, time.Millisecond)
	release()
	ended(t, n, jobs)
	meter.Reset()

	release = n.Script.Hold()
	clock.Advance(time.Minute)
	_, err = n.Planner.Scan(t.Context())
	require.NoError(t, err)
	n.Script.Await(t, jobs)
	meter.Reset()
	fire()
	c.fire = writes("fire")
	n.Script.Await(t, 2*jobs)
	release()
	ended(t, n, 2*jobs)
	c.end = writes("end")
	return c, cfg.Driver == "sqlite" || strings.Contains(s.Info().Version, "MariaDB")
}

// ended waits until the ends of so many runs are stored.
func ended(t *testing.T, n *enginetest.Node, runs int) {
	t.Helper()
	require.Eventually(t, func() bool { return n.Counts.Of(func(c *enginetest.Counts) int { return c.Ends }) == runs },
		20*time.Second, time.Millisecond)
}

// shortened are the statements as a person tells them apart, each kind once.
func shortened(statements []string) []string {
	var kinds []string
	times := map[string]int{}
	for _, s := range statements {
		kind := strings.Join(strings.Fields(s[:min(len(s), 100)]), " ")
		if times[kind]++; times[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d × %s", times[kind], kind)
	}
	return kinds
}
