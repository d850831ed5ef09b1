package app_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging/logtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

const (
	// planned is the interval of the jobs, lasts how long a run of theirs takes: at each moment some are in progress.
	planned, lasts = time.Second, 300 * time.Millisecond
	// readyBound is how long a node may take from its start on the new primary until it is ready, worksBound until the
	// nodes there work after the old primary stops to take writes. docs/copies.md states them.
	readyBound, worksBound = 10 * time.Second, 15 * time.Second
)

// site is a whole server that can move to another store under its address.
type site struct {
	*node
	server *server.Server
	// close stops it as an operator does, once. One whose store takes no writes says what it could not store.
	close func() error
}

// openSite starts a server, and waits until /readyz says that it is ready.
func openSite(t *testing.T, cfg config.Config) site {
	t.Helper()
	n := &node{t: t, cfg: cfg, log: &logtest.Log{}, script: &script{
		reply: func(ctx context.Context, run entity.Run) entity.Outcome {
			select {
			case <-time.After(lasts):
				return entity.Succeeded("done")
			case <-ctx.Done():
				return untilStopped(ctx, run)
			}
		},
	}}
	t.Cleanup(n.complain)
	began := time.Now()
	s, err := server.New(t.Context(), cfg, app.Options{
		Executor: n.script, Logger: slog.New(slog.NewTextHandler(n.log, nil)),
	})
	require.NoError(t, err)
	require.NoError(t, s.Start())
	n.Engine = s.Engine
	o := site{n, s, sync.OnceValue(func() error { return s.Stop(context.Background()) })}
	t.Cleanup(func() { _ = o.close() })
	require.Eventually(t, o.isReady, readyBound, 5*time.Millisecond, "%s becomes ready", cfg.Node.ID)
	t.Logf("%s was ready %s after its start", cfg.Node.ID, time.Since(began).Round(time.Millisecond))
	return o
}

// isReady is what a load balancer sees of a server.
func (s site) isReady() bool {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.server.URL()+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// sites are the nodes of some servers.
func sites(of ...site) (out []*node) {
	for _, s := range of {
		out = append(out, s.node)
	}
	return out
}

// Three nodes move to a promoted replica, one by one, under load. The replica follows by the binlog, as an operator's
// does. The first node moves too early: it stands by while the others work on the old primary. When that takes no more
// writes, and the replica has all of them, all work there. Each planned second has its run.
func TestThreeNodesMoveToAPromotedReplica(t *testing.T) {
	dbtest.NeedMySQL(t)
	ctx, dir := t.Context(), t.TempDir()
	start := func(s *rig.Server, err error) *rig.Server {
		t.Helper()
		if s != nil {
			t.Cleanup(func() { require.NoError(t, s.Down(context.Background())) })
		}
		require.NoError(t, err)
		return s
	}
	primary := start(rig.StartPrimary(ctx, "../..", filepath.Join(dir, "primary")))
	replica := start(rig.StartReplica(ctx, "../..", filepath.Join(dir, "replica"), primary))
	cfgs, prefix := peersOn(t, primary.DSN, allRoles, allRoles, allRoles), rand.Text()
	old := make([]site, len(cfgs))
	for i := range cfgs {
		addr, err := rig.FreeAddr(ctx)
		require.NoError(t, err)
		cfgs[i].Server.Addr, cfgs[i].Redis.KeyPrefix = addr, prefix
		cfgs[i].Server.ShutdownGraceSec = 10 // a stop ends no run that its store can take
		old[i] = openSite(t, cfgs[i])
	}
	settled(sites(old...))
	jobs := promotedLoad(old[0].node)
	ranMore(30, sites(old...)...)
	require.NoError(t, replica.CatchUp(ctx, primary))
	var moved []site
	move := func(i int) site {
		t.Helper()
		cfgs[i].Store.DSN = replica.DSN
		s := openSite(t, cfgs[i])
		moved = append(moved, s)
		return s
	}

	require.NoError(t, old[0].close())
	require.NoError(t, replica.ReadOnly(ctx, false)) // a node does not start on a store that takes no writes
	early := move(0)
	early.await("it stands by", func() bool { return standsBy(early.node) != "" })
	ranMore(60, sites(old[1:]...)...)
	require.Empty(t, early.script.runs())
	for _, s := range old {
		require.NotContains(t, s.log.String(), "stops its work", "nobody of production is disturbed")
	}

	require.NoError(t, primary.ReadOnly(ctx, true))
	silent, inDoubt := time.Now(), runningAt(t, primary.DSN)
	require.NoError(t, replica.CatchUp(ctx, primary))
	require.NoError(t, replica.Promote(ctx))
	require.Empty(t, early.script.runs(), "the replica has caught up before somebody works on it")
	t.Logf("the replica was promoted %s after the last write", time.Since(silent).Round(time.Millisecond))
	require.Eventually(t, func() bool { return len(early.script.runs()) > 0 }, worksBound, 5*time.Millisecond,
		"the node that stood by works")
	t.Logf("the new primary had its first run %s after the last write", time.Since(silent).Round(time.Millisecond))
	for i := 1; i < len(old); i++ {
		t.Logf("%s stops: %v", cfgs[i].Node.ID, old[i].close())
		move(i)
		ranMore(30, sites(moved...)...)
	}
	for _, s := range moved {
		// Ten jobs may all lie in the partitions of two nodes.
		s.await("nobody is silenced for good", func() bool {
			return standsBy(s.node) == "" && s.isReady() && len(s.Member.Partitions()) > 0
		})
	}
	settled(sites(moved...))

	l := ledgerOf(t, slices.Concat(sites(old...), sites(moved...)))
	l.check(moved[0].node, jobs, inDoubt)
	for _, n := range l.nodes {
		require.NotContains(t, n.log.String(), "ended the store sessions")
	}
	for _, s := range []*rig.Server{primary, replica} {
		kills, err := s.Kills(ctx)
		require.NoError(t, err)
		require.Equal(t, "0", kills, "no node ends a session of another store")
	}
}

// promotedLoad are jobs of which each fire runs, however late.
func promotedLoad(n *node) (jobs []*entity.Job) {
	n.t.Helper()
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		jobs = append(jobs, n.create(newJob(name, func(j *entity.Job) {
			every(planned)(j)
			j.Overlap = entity.OverlapParallel
		})))
	}
	return jobs
}

// runningAt are the runs in progress in a store. One that takes no writes never learns of their ends.
func runningAt(t *testing.T, dsn string) (ids []string) {
	t.Helper()
	db := dbtest.Raw(t, persistence.Config{Config: sqldb.Config{DSN: dsn}})
	rows, err := db.QueryContext(t.Context(), "SELECT id FROM scheduler_job_execution WHERE status = 'RUNNING'")
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	require.NoError(t, rows.Err())
	return ids
}

// effect is an attempt that a node began.
type effect struct {
	node    string
	attempt int
	at      time.Time
}

// ledger is what the target of the runs has seen: all attempts of all nodes, by run.
type ledger struct {
	t     *testing.T
	nodes []*node
	seen  map[string][]effect
}

func ledgerOf(t *testing.T, nodes []*node) *ledger {
	return &ledger{t: t, nodes: nodes, seen: map[string][]effect{}}
}

// check holds the rows of the store against the ledger: each planned second has one run, which has succeeded, and each
// attempt was made once. A run is made again only if it was in progress when the old primary stopped to take writes,
// because nothing could store its end.
func (l *ledger) check(n *node, jobs []*entity.Job, inDoubt []string) {
	t, until := l.t, time.Now()
	t.Helper()
	rows := map[string][]*entity.Execution{}
	n.await("all that was planned has ended", func() bool {
		for _, j := range jobs {
			rows[j.ID] = slices.DeleteFunc(n.rows(j.ID), func(r *entity.Execution) bool { return r.ScheduledTime.After(until) })
			if slices.ContainsFunc(rows[j.ID], func(r *entity.Execution) bool { return !r.Status.Final() }) {
				return false
			}
		}
		return true
	})
	for _, n := range l.nodes {
		for _, run := range n.script.runs() {
			x := run.Execution
			l.seen[x.ID] = append(l.seen[x.ID], effect{n.cfg.Node.ID, x.Attempt, x.StartTime})
		}
	}
	fires, again, known := 0, 0, map[string]bool{}
	for _, j := range jobs {
		var last time.Time
		for _, row := range rows[j.ID] {
			require.Equal(t, entity.StatusSuccess, row.Status, "%s of %s", row.ID, row.ScheduledTime)
			if !last.IsZero() {
				require.Equal(t, planned, row.ScheduledTime.Sub(last), "each fire is there once")
			}
			last, known[row.ID] = row.ScheduledTime, true
			fires++
			again += l.checkRun(row, inDoubt)
		}
		require.WithinDuration(t, until, last, 2*planned, "no fire is missing at the end")
	}
	for id, effects := range l.seen {
		require.True(t, known[id] || effects[0].at.After(until.Add(-planned)), "the store has lost %s: %v", id, effects)
	}
	t.Logf("%d fires, each recorded once; %d runs that were in progress at the last write were made again", fires, again)
}

// checkRun checks the attempts of a run, and returns how many were made again.
func (l *ledger) checkRun(row *entity.Execution, inDoubt []string) (again int) {
	effects := l.seen[row.ID]
	require.Len(l.t, effects, row.Attempt, "each attempt of %s is made once: %v", row.ID, effects)
	for i, e := range effects {
		require.Equal(l.t, i+1, e.attempt, "%v", effects)
	}
	if len(effects) > 1 {
		require.Contains(l.t, inDoubt, row.ID, "only what was in progress at the last write is made again: %v", effects)
	}
	return len(effects) - 1
}
