package persistence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/registry"
)

// member is a node with a way of its own for its beats.
type member struct {
	*registry.Beats
	store *persistence.Store
	node  entity.Node
}

func newMember(t *testing.T, cfg persistence.Config, id string) *member {
	t.Helper()
	m := &member{store: dbtest.Open(t, cfg)}
	var err error
	m.Beats, err = m.store.Beats(id, time.Second, 2*time.Second)
	require.NoError(t, err)
	require.NoError(t, m.Hold(t.Context()))
	m.node = entity.Node{
		ID: id, Roles: []string{entity.RoleScheduler},
		Life: entity.NodeLife{Lease: 3 * time.Second, Boot: "boot-" + id},
	}
	m.node.Epoch, err = m.store.Register(t.Context(), m.node)
	require.NoError(t, err)
	m.beat(t)
	return m
}

func (m *member) beat(t *testing.T) {
	t.Helper()
	ok, err := m.Heartbeat(t.Context(), m.node)
	require.NoError(t, err)
	require.True(t, ok)
}

func (m *member) seen(t *testing.T, id string) entity.Node {
	t.Helper()
	nodes, now, err := m.View(t.Context())
	require.NoError(t, err)
	require.False(t, now.IsZero())
	for _, n := range nodes {
		if n.ID == id {
			return n
		}
	}
	return entity.Node{}
}

func TestBeatsPublishTheSessionsOfANode(t *testing.T) {
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	a, b := newMember(t, cfg, "a"), newMember(t, cfg, "b")
	n := b.seen(t, "a")
	require.Equal(t, []any{3 * time.Second, "boot-a"}, []any{n.Life.Lease, n.Life.Boot})
	require.Contains(t, n.Life.Server, "@")
	require.Contains(t, n.Life.Sessions, n.Life.LockSession)
	require.NotContains(t, b.seen(t, "b").Life.Sessions, n.Life.LockSession)
	free, known, err := b.LockFree(t.Context(), n)
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, []bool{free, known}, "its process holds it")

	elsewhere := n
	elsewhere.Life.Server = "another@1"
	_, known, err = b.LockFree(t.Context(), elsewhere)
	require.NoError(t, err)
	require.False(t, known, "the locks of another server, or of another start of it, say nothing")

	require.NoError(t, a.store.Close())
	require.Eventually(t, func() bool {
		free, known, err := b.LockFree(t.Context(), n)
		return err == nil && known && free
	}, 20*time.Second, 20*time.Millisecond, "the connection has ended")
}

func TestANodesIDIsHeldByItsBeats(t *testing.T) {
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	a := newMember(t, cfg, "a")
	other, err := dbtest.Open(t, cfg).Beats("a", time.Second, 2*time.Second)
	require.NoError(t, err)
	require.True(t, apperror.Is(other.Hold(t.Context()), apperror.KindConflict))

	// The server ends the connection: the next beat fails or dials anew, and the lock is taken again.
	n := a.seen(t, "a")
	kill(t, cfg, n.Life.LockSession)
	require.Eventually(t, func() bool {
		ok, err := a.Heartbeat(t.Context(), a.node)
		now := a.seen(t, "a")
		return err == nil && ok && now.Life.LockSession > n.Life.LockSession
	}, 20*time.Second, 50*time.Millisecond)
}

// A node of a former release asks the server for the name of the lock. MySQL 9.7
// has no function for it, and no such node runs there.
func TestANodesIDIsHeldAgainstAFormerRelease(t *testing.T) {
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	session, err := dbtest.Raw(t, cfg).Conn(t.Context())
	require.NoError(t, err)
	const former = "CONCAT('ps-', SHA1(CONCAT(DATABASE(), ':', ?)))"
	held := 0
	err = session.QueryRowContext(t.Context(), "SELECT GET_LOCK("+former+", 0)", "节点 a").Scan(&held)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1305 { // there is no such function
		t.Logf("no former release runs on this server: %v", err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, 1, held)
	s := dbtest.Open(t, cfg)
	beats, err := s.Beats("节点 a", time.Second, 2*time.Second)
	require.NoError(t, err)
	require.True(t, apperror.Is(beats.Hold(t.Context()), apperror.KindConflict))

	require.NoError(t, session.QueryRowContext(t.Context(), "SELECT RELEASE_LOCK("+former+")", "节点 a").Scan(&held))
	require.NoError(t, beats.Hold(t.Context()))
	require.NoError(t, session.QueryRowContext(t.Context(), "SELECT GET_LOCK("+former+", 0)", "节点 a").Scan(&held))
	require.Equal(t, 0, held)
	require.NoError(t, session.Close())
}

func kill(t *testing.T, cfg persistence.Config, session int64) {
	t.Helper()
	_, err := dbtest.Raw(t, cfg).ExecContext(t.Context(), fmt.Sprint("KILL CONNECTION ", session))
	require.NoError(t, err)
}

// Engine rule 11: a node froze inside a transaction and holds a row of a job;
// who takes it over ends its sessions.
func TestTheSessionsOfADeadNodeAreEnded(t *testing.T) {
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	a, b := newMember(t, cfg, "a"), newMember(t, cfg, "b")
	require.NoError(t, addEvent(t.Context(), a.store, "row"))
	raw := dbtest.Raw(t, cfg)
	held := make(chan struct{})
	frozen := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- dbtest.Write(t.Context(), a.store, repository.LaneFire, "test",
			func(ctx context.Context, tx dbtest.Tx) error {
				if _, err := tx.Exec(ctx, "UPDATE scheduler_outbox SET topic = 'held' WHERE event_id = 'row'"); err != nil {
					return err
				}
				select {
				case <-held: // a second try, after the first was cut off
					return errors.New("cut off")
				default:
				}
				close(held)
				<-frozen
				return nil
			})
	}()
	<-held
	take := func(within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		_, err := raw.ExecContext(ctx, "UPDATE scheduler_outbox SET topic = 'taken' WHERE event_id = 'row'")
		return err
	}
	require.Error(t, take(500*time.Millisecond), "the row is locked")
	a.beat(t) // publishes the session
	n := b.seen(t, "a")
	killed, err := b.Sever(t.Context(), n)
	require.NoError(t, err)
	require.Zero(t, killed, "it is not DOWN")
	ok, err := b.Mark(t.Context(), n, entity.NodeDown, entity.DownLease)
	require.NoError(t, err)
	require.True(t, ok)
	elsewhere := n
	elsewhere.Life.Server = "another@1"
	killed, err = b.Sever(t.Context(), elsewhere)
	require.NoError(t, err)
	require.Zero(t, killed, "ids of another server are others' sessions")
	require.Error(t, take(500*time.Millisecond))
	killed, err = b.Sever(t.Context(), n)
	require.NoError(t, err)
	require.NotZero(t, killed)
	require.NoError(t, take(20*time.Second), "the lock is gone")
	close(frozen)
	require.Error(t, <-ended, "what the frozen node thaws into is no transaction any more")
	killed, err = b.Sever(t.Context(), n)
	require.NoError(t, err, "sessions that have ended already are no error")
	require.Zero(t, killed)
	ok, err = a.Heartbeat(t.Context(), a.node)
	if err != nil { // its own connection was ended, too
		ok, err = a.Heartbeat(t.Context(), a.node)
	}
	require.NoError(t, err)
	require.False(t, ok)
}

// A hanging connection is left behind: the next beat dials.
func TestABeatThatIsGivenUpTakesItsConnectionAlong(t *testing.T) {
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	a := newMember(t, cfg, "a")
	raw := dbtest.Raw(t, cfg)
	tx, err := raw.BeginTx(t.Context(), &sql.TxOptions{})
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "UPDATE scheduler_node_registry SET version = 'x' WHERE id = 'a'")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = a.Heartbeat(ctx, a.node)
	require.ErrorIs(t, err, context.DeadlineExceeded, "it is given up before the store gives up")
	require.NoError(t, tx.Rollback())
	a.beat(t)
}
