package app_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// copied is a second database on the server of a store.
type copied struct {
	t        *testing.T
	from, to persistence.Config
}

func copyOf(t *testing.T, cfg config.Config) *copied {
	t.Helper()
	r := &copied{
		t: t, from: persistence.Config{Config: sqldb.Config{Driver: "mysql", DSN: cfg.Store.DSN}}, to: dbtest.MySQL(t),
	}
	s, err := persistence.Open(t.Context(), r.to)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return r
}

// own are the tables that say what a database itself is.
var own = []string{"scheduler_schema_version", "scheduler_schema_compat"}

// fill makes the copy what its original is. Each table is read without locks, beside whoever writes.
func (r *copied) fill() {
	r.t.Helper()
	from, err := mysql.ParseDSN(r.from.DSN)
	require.NoError(r.t, err)
	c, err := dbtest.Raw(r.t, r.to).Conn(r.t.Context())
	require.NoError(r.t, err)
	defer func() { _ = c.Close() }()
	exec := func(statement string) {
		r.t.Helper()
		_, err := c.ExecContext(r.t.Context(), statement)
		require.NoError(r.t, err, statement)
	}
	exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
	rows, err := c.QueryContext(r.t.Context(),
		"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME LIKE 'scheduler%'", from.DBName)
	require.NoError(r.t, err)
	var tables []string
	for rows.Next() {
		var name string
		require.NoError(r.t, rows.Scan(&name))
		tables = append(tables, name)
	}
	require.NoError(r.t, rows.Err())
	require.NoError(r.t, rows.Close())
	for _, name := range tables {
		if !slices.Contains(own, name) {
			exec("DELETE FROM " + name)
			exec("INSERT INTO " + name + " SELECT * FROM " + from.DBName + "." + name)
		}
	}
}

// moved is a configuration on the copy.
func (r *copied) moved(cfg config.Config) config.Config {
	cfg.DataDir, cfg.Store.DSN = r.t.TempDir(), r.to.DSN
	return cfg
}

// load are jobs that fire all the time.
func load(n *node, interval time.Duration) (jobs []*entity.Job) {
	n.t.Helper()
	for i := range 10 {
		jobs = append(jobs, n.create(newJob(fmt.Sprint("job ", i), every(interval))))
	}
	return jobs
}

// ranMore waits until nodes have run some more.
func ranMore(count int, nodes ...*node) {
	nodes[0].t.Helper()
	ran := func() (sum int) {
		for _, n := range nodes {
			sum += len(n.script.runs())
		}
		return sum
	}
	before := ran()
	nodes[0].await("production goes on", func() bool { return ran() >= before+count })
}

// A live store is copied beside production, and a node starts on the copy, under the name of a
// living node. No session of production ends, and no call is made twice. When production has
// stopped, the node works by itself.
func TestACopyOfALiveStoreDisturbsNobody(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles)
	a, b := startNode(t, cfgs[0], &script{}), startNode(t, cfgs[1], &script{})
	settled([]*node{a, b})
	load(a, 200*time.Millisecond)
	ranMore(50, a, b)
	a.await("the sessions are published", func() bool {
		return !slices.ContainsFunc(a.Member.Nodes(), func(n entity.Node) bool { return n.Life.LockSession == 0 })
	})
	before := a.Member.Nodes()
	other := copyOf(t, cfgs[0])
	other.fill()

	c := startNode(t, other.moved(cfgs[0]), &script{})
	defer c.stop()
	c.await("it stands by", func() bool { return standsBy(c) != "" })
	require.Contains(t, standsBy(c), "works on another store")
	ranMore(200, a, b)
	require.Empty(t, c.script.runs())
	require.Empty(t, c.Member.Partitions())
	after := a.Member.Nodes()
	for i, n := range after {
		require.Equal(t, entity.NodeUp, n.Status)
		require.Equal(t, before[i].Epoch, n.Epoch)
		require.Equal(t, before[i].Life.LockSession, n.Life.LockSession, "its beats go over the same connection")
	}
	for _, n := range []*node{a, b} {
		require.NotContains(t, n.log.String(), "stops its work")
		require.NotContains(t, n.log.String(), "the store is unavailable")
	}
	require.NotContains(t, c.log.String(), "ended the store sessions")

	a.stop()
	b.stop()
	c.await("it works by itself", func() bool { return len(c.script.runs()) > 0 })
	require.Empty(t, standsBy(c))
}
