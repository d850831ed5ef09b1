package redisconn_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// server speaks as much of Redis as a test needs. It answers each command with
// what reply says.
type server struct {
	addr  string
	asked atomic.Int64
}

func serve(t *testing.T, reply func(command string) string) *server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	s := &server{addr: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.talk(c, reply)
		}
	}()
	return s
}

func (s *server) talk(c net.Conn, reply func(command string) string) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		words, err := command(in)
		if err != nil {
			return
		}
		name := strings.ToUpper(words[0])
		answer := "-ERR unknown command\r\n"
		switch name {
		case "HELLO":
		case "CLIENT", "SELECT":
			answer = "+OK\r\n"
		default:
			s.asked.Add(1)
			answer = reply(name)
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

func command(in *bufio.Reader) (words []string, err error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(head[1:]))
	for range n {
		if _, err = in.ReadString('\n'); err != nil {
			return nil, err
		}
		word, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		words = append(words, strings.TrimSpace(word))
	}
	return words, err
}

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

func TestPingSeesAServerOfAnotherKind(t *testing.T) {
	for _, c := range []struct {
		info, want string
		mistaken   bool
	}{
		{bulk("redis_mode:standalone\r\nrole:master\r\ncluster_enabled:0\r\n"), "", false},
		{
			bulk("redis_mode:cluster\r\nrole:master\r\ncluster_enabled:1\r\n"),
			"Redis is a cluster; name several of its nodes in redis.addrs", true,
		},
		{bulk("redis_mode:sentinel\r\n"), "redis.masterName (PS_REDIS_MASTER_NAME)", true},
		{bulk("role:slave\r\ncluster_enabled:0\r\n"), "a replica", true},
		{"-NOPERM this user has no permissions to run the 'info' command\r\n", "", false},
	} {
		s := serve(t, func(name string) string {
			if name == "INFO" {
				return c.info
			}
			return "+PONG\r\n"
		})
		err := ping(t, config.Redis{Addrs: []string{s.addr}})
		require.Equal(t, c.mistaken, redisconn.Mistaken(err), "%v", err)
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
	s := serve(t, func(string) string { return "-LOADING Redis is loading the dataset in memory\r\n" })
	err := ping(t, config.Redis{Addrs: []string{s.addr}})
	require.Error(t, err)
	require.False(t, redisconn.Mistaken(err), "that passes")
}

func TestARedisThatDoesNotAnswerIsLeftAloneForAWhile(t *testing.T) {
	var silent, refuses atomic.Bool
	s := serve(t, func(string) string {
		switch {
		case silent.Load():
			return ""
		case refuses.Load():
			return "-READONLY You can't write against a read only replica.\r\n"
		}
		return "$-1\r\n"
	})
	cfg := config.Redis{Addrs: []string{s.addr}}
	client, c := redistest.Open(t, cfg), clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	g := redisconn.Watch(client, cfg, c, slog.New(slog.DiscardHandler))
	get := func(ctx context.Context) error { return client.Get(ctx, "x").Err() }
	away := func() string { reason, _ := g.Away(); return reason }

	require.ErrorContains(t, get(t.Context()), "nil")
	require.Empty(t, away(), "nothing found is an answer")
	silent.Store(true)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, get(gone))
	require.Empty(t, away(), "who gives up says nothing of Redis")
	require.Error(t, get(t.Context()), "a call has a bound of its own")
	require.Contains(t, away(), "redis.addrs (PS_REDIS_ADDRS: "+s.addr)
	asked := s.asked.Load()
	for range 100 {
		require.ErrorIs(t, get(t.Context()), redisconn.ErrResting)
	}
	_, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error { p.Get(t.Context(), "x"); return nil })
	require.ErrorIs(t, err, redisconn.ErrResting)
	require.Equal(t, asked, s.asked.Load())

	silent.Store(false)
	since := c.Now()
	c.Advance(3 * time.Second)
	refuses.Store(true)
	require.Error(t, get(t.Context()))
	require.Contains(t, away(), "a replica")
	_, at := g.Away()
	require.Equal(t, since, at, "since it began")
	refuses.Store(false)
	require.False(t, errors.Is(get(t.Context()), redisconn.ErrResting), "one that answers is asked on")
	require.Empty(t, away())
}

// The elector spends its time on a silent store and asks Redis with what is
// left of it: nothing. Redis serves all the while.
func TestACallersOwnDeadlineSaysNothingOfRedis(t *testing.T) {
	s := serve(t, func(string) string { return bulk("x") })
	clock := clocktest.NewManual(time.Now())
	client := redis.NewClient(&redis.Options{Addr: s.addr})
	t.Cleanup(func() { _ = client.Close() })
	guard := redisconn.Watch(client, config.Redis{Addrs: []string{s.addr}}, clock, slog.New(slog.DiscardHandler))
	over, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-over.Done()
	require.ErrorIs(t, client.Get(over, "x").Err(), context.DeadlineExceeded)
	why, _ := guard.Away()
	require.Empty(t, why)
	require.NoError(t, client.Get(t.Context(), "x").Err())
}

// A server that takes no connection lets each call run into the bound of the guard.
func TestARedisThatTakesNoConnectionRests(t *testing.T) {
	cfg := config.Redis{Addrs: []string{"127.0.0.1:1"}}
	client := redis.NewClient(&redis.Options{Addr: cfg.Addrs[0]})
	t.Cleanup(func() { _ = client.Close() })
	guard := redisconn.Watch(client, cfg, clocktest.NewManual(time.Now()), slog.New(slog.DiscardHandler))
	guard.Note(fmt.Errorf("dial tcp: %w", context.DeadlineExceeded))
	why, _ := guard.Away()
	require.NotEmpty(t, why)
	require.ErrorIs(t, client.Get(t.Context(), "x").Err(), redisconn.ErrResting)
}

// A caller with a bound of its own that Redis had the whole of.
func TestASilentRedisIsFoundByShortCallsToo(t *testing.T) {
	quiet := make(chan struct{})
	clock := clocktest.NewManual(time.Now())
	s := serve(t, func(string) string {
		clock.Advance(250 * time.Millisecond)
		<-quiet
		return bulk("x")
	})
	defer close(quiet)
	client := redis.NewClient(&redis.Options{Addr: s.addr, ContextTimeoutEnabled: true, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	guard := redisconn.Watch(client, config.Redis{Addrs: []string{s.addr}}, clock, slog.New(slog.DiscardHandler))
	short := func() (why string) {
		ctx, end := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer end()
		require.Error(t, client.Get(ctx, "x").Err())
		why, _ = guard.Away()
		return why
	}
	for range 20 { // on a busy machine a call may end before it has reached the server
		if short() != "" {
			return
		}
	}
	require.Fail(t, "short calls do not find out")
}
