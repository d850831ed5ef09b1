package persistence_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// proxy stands between the store and a real server, and cuts.
type proxy struct {
	listener net.Listener
	upstream string

	mu    sync.Mutex
	conns map[net.Conn]bool
	away  bool
	// loseReply cuts a connection once the server has answered its next COMMIT,
	// so that the answer is lost; cutBefore cuts before COMMIT is passed on.
	loseReply, cutBefore bool
}

func startProxy(t *testing.T, upstream string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, upstream: upstream, conns: make(map[net.Conn]bool)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
		wg.Wait()
	})
	return p
}

// set changes what the proxy does.
func (p *proxy) set(change func(p *proxy)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// cut ends all connections.
func (p *proxy) cut() {
	p.set(func(p *proxy) {
		for c := range p.conns {
			_ = c.Close()
		}
	})
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	var server net.Conn
	var err error
	p.set(func(p *proxy) {
		if p.away {
			err = errors.New("away")
			return
		}
		if server, err = net.Dial("tcp", p.upstream); err == nil {
			p.conns[client], p.conns[server] = true, true
		}
	})
	if err != nil {
		return
	}
	defer server.Close()
	mute := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.toClient(client, server, mute)
	}()
	p.toServer(client, server, mute)
	<-done
}

// toServer passes commands on and watches for COMMIT.
func (p *proxy) toServer(client, server net.Conn, mute chan struct{}) {
	defer server.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		commit := strings.HasSuffix(string(buf[:n]), "\x03COMMIT")
		var before, lose bool
		if commit {
			p.set(func(p *proxy) { before, lose, p.cutBefore, p.loseReply = p.cutBefore, p.loseReply, false, false })
		}
		if before {
			return
		}
		if lose {
			mute <- struct{}{}
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// toClient passes answers on until one is to be lost.
func (p *proxy) toClient(client, server net.Conn, mute chan struct{}) {
	defer client.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-mute:
			_ = server.Close()
			return
		default:
		}
		if _, err := client.Write(buf[:n]); err != nil && !errors.Is(err, io.EOF) {
			return
		}
	}
}

// behindProxy opens a store on a real server behind a proxy.
func behindProxy(t *testing.T) (*persistence.Store, *proxy) {
	t.Helper()
	cfg := dbtest.Migrated(t)
	dsn, err := mysql.ParseDSN(cfg.DSN)
	require.NoError(t, err)
	p := startProxy(t, dsn.Addr)
	dsn.Addr = p.listener.Addr().String()
	cfg.DSN = dsn.FormatDSN()
	return dbtest.Open(t, cfg), p
}

func nodeOf(id string) entity.Node { return entity.Node{ID: id, IP: "127.0.0.1", Port: 1} }

// addUser is any small transaction.
func addUser(s *persistence.Store, id string, runs *int) error {
	return s.Write(context.Background(), repository.LaneFire, "test", func(ctx context.Context, tx repository.Tx) error {
		*runs++
		return tx.Records.AddEvents(ctx,
			[]entity.Event{{
				ID: id, Topic: "t", Type: "x", Payload: "{}", CreateTime: time.Now(),
				Readers: entity.EventReaders{Kafka: true},
			}})
	})
}

func eventCount(t *testing.T, s *persistence.Store) int {
	t.Helper()
	events, err := s.PendingEvents(t.Context(), entity.ReaderKafka, 0, 100)
	require.NoError(t, err)
	return len(events)
}

func TestALostReplyToACommitIsUnknown(t *testing.T) {
	dbtest.NeedMySQL(t)
	s, p := behindProxy(t)
	runs := 0
	require.NoError(t, addUser(s, "a", &runs))
	p.set(func(p *proxy) { p.loseReply = true })
	runs = 0
	err := addUser(s, "b", &runs)
	require.ErrorIs(t, err, repository.ErrCommitUnknown)
	require.Equal(t, 1, runs, "it is not sent twice")
	require.Equal(t, 2, eventCount(t, s), "this one did happen")
	p.set(func(p *proxy) { p.cutBefore = true })
	require.ErrorIs(t, addUser(s, "c", &runs), repository.ErrCommitUnknown)
	require.Equal(t, 2, eventCount(t, s), "and this one did not; nobody can tell them apart")
	require.NoError(t, addUser(s, "d", &runs), "the next works")
}

func TestAConnectionThatDiesBeforeCommitIsReplaced(t *testing.T) {
	dbtest.NeedMySQL(t)
	s, p := behindProxy(t)
	runs := 0
	err := s.Write(t.Context(), repository.LaneFire, "test", func(ctx context.Context, tx repository.Tx) error {
		if runs++; runs == 1 {
			p.cut()
		}
		return tx.Records.AddEvents(ctx,
			[]entity.Event{{
				ID: "a", Topic: "t", Type: "x", Payload: "{}", CreateTime: time.Now(),
				Readers: entity.EventReaders{Kafka: true},
			}})
	})
	require.NoError(t, err)
	require.Equal(t, 2, runs)
	p.cut() // idle connections die too, and nobody notices
	require.Equal(t, 1, eventCount(t, s))
	p.cut()
	runs = 0
	require.NoError(t, addUser(s, "b", &runs))
}

func TestAnAwayServerIsUnavailableAndComesBack(t *testing.T) {
	dbtest.NeedMySQL(t)
	s, p := behindProxy(t)
	p.set(func(p *proxy) { p.away = true })
	p.cut()
	runs := 0
	require.True(t, apperror.Is(addUser(s, "a", &runs), apperror.KindUnavailable))
	require.Zero(t, runs)
	_, err := s.PendingEvents(t.Context(), entity.ReaderKafka, 0, 1)
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	_, err = s.Jobs.Get(t.Context(), "x")
	require.True(t, apperror.Is(err, apperror.KindUnavailable), "GORM's statements too")
	_, err = s.UserByName(t.Context(), "x")
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	require.True(t, apperror.Is(s.Ping(t.Context()), apperror.KindUnavailable))
	p.set(func(p *proxy) { p.away = false })
	require.NoError(t, addUser(s, "a", &runs))
	require.NoError(t, s.Ping(t.Context()))
}

func TestARowThatIsLockedForLongIsUnavailable(t *testing.T) {
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	holder, s := dbtest.Open(t, cfg), dbtest.Open(t, cfg)
	_, err := holder.Register(t.Context(), nodeOf("n1"))
	require.NoError(t, err)
	locked, release := make(chan struct{}), make(chan struct{})
	held := make(chan error, 1)
	go func() {
		held <- dbtest.Write(context.Background(), holder, repository.LaneAPI, "test",
			func(ctx context.Context, tx dbtest.Tx) error {
				_, err := tx.Exec(ctx, "UPDATE scheduler_node_registry SET running = running + 1")
				close(locked)
				<-release
				return err
			})
	}()
	<-locked
	// It ends while the row is still held.
	_, err = s.Heartbeat(t.Context(), entity.Node{ID: "n1", Epoch: 1})
	require.True(t, apperror.Is(err, apperror.KindUnavailable), "%v", err)
	close(release)
	require.NoError(t, <-held)
}

// lockBoth locks one job, waits for the other side to have locked its own, and
// locks that too.
func lockBoth(s *persistence.Store, first, second string, mine chan<- struct{}, theirs <-chan struct{},
	runs *int,
) error {
	return s.Write(context.Background(), repository.LaneFire, "test", func(ctx context.Context, tx repository.Tx) error {
		*runs++
		if _, err := tx.Jobs.Lock(ctx, []string{first}); err != nil {
			return err
		}
		if *runs == 1 {
			close(mine)
			<-theirs
		}
		_, _ = tx.Jobs.Lock(ctx, []string{second}) // the error is swallowed
		_ = tx.Records.AddEvents(ctx,
			[]entity.Event{{
				ID: first, Topic: "t", Type: "x", Payload: "{}", CreateTime: time.Now(),
				Readers: entity.EventReaders{Kafka: true},
			}})
		return nil
	})
}

func TestASwallowedDeadlockIsNotCommitted(t *testing.T) {
	dbtest.NeedMySQL(t)
	s := dbtest.Open(t, dbtest.Migrated(t))
	require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		return tx.Jobs.Insert(ctx, benchJob(1, time.Now()), benchJob(2, time.Now()))
	}))
	a, b := make(chan struct{}), make(chan struct{})
	var runs [2]int
	ended := make(chan error, 1)
	go func() { ended <- lockBoth(s, benchJobID(2), benchJobID(1), b, a, &runs[1]) }()
	require.NoError(t, lockBoth(s, benchJobID(1), benchJobID(2), a, b, &runs[0]))
	require.NoError(t, <-ended)
	require.Equal(t, 3, runs[0]+runs[1], "the loser ran again, from its beginning")
	require.Equal(t, 2, eventCount(t, s))
}
