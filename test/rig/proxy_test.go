package rig_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// echo is a server that answers each line with it, and notes that it had it.
func echo(t *testing.T) (addr string, heard chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	heard = make(chan string, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for s := bufio.NewScanner(c); s.Scan(); {
					heard <- s.Text()
					_, _ = c.Write([]byte(s.Text() + "\n"))
				}
			}()
		}
	}()
	return l.Addr().String(), heard
}

type talk struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, p *rig.Proxy) talk {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return talk{c, bufio.NewReader(c)}
}

func (c talk) say(line string) { _, _ = c.Write([]byte(line + "\n")) }

// hear waits for an answer; err is what came instead.
func (c talk) hear(within time.Duration) (string, error) {
	_ = c.SetReadDeadline(time.Now().Add(within))
	return c.in.ReadString('\n')
}

func (c talk) mustHear(t *testing.T, line string) {
	t.Helper()
	got, err := c.hear(30 * time.Second)
	require.NoError(t, err)
	require.Equal(t, line+"\n", got)
}

func timedOut(err error) bool {
	e, ok := err.(net.Error) //nolint:errorlint // it is not wrapped
	return ok && e.Timeout()
}

func newProxy(t *testing.T) (*rig.Proxy, chan string) {
	t.Helper()
	addr, heard := echo(t)
	p, err := rig.NewProxy(addr)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p, heard
}

func TestAProxyPassesAndCuts(t *testing.T) {
	p, _ := newProxy(t)
	c := dial(t, p)
	c.say("one")
	c.mustHear(t, "one")
	p.Set(rig.Cut)
	_, err := c.hear(30 * time.Second)
	require.Error(t, err)
	require.False(t, timedOut(err), "it is told")
	fresh, err := net.Dial("tcp", p.Addr())
	if err == nil { // otherwise it was told at once
		_, err = talk{fresh, bufio.NewReader(fresh)}.hear(30 * time.Second)
		_ = fresh.Close()
	}
	require.Error(t, err)
	require.False(t, timedOut(err), "a new one is told too")
	p.Set(rig.Pass)
	again := dial(t, p)
	again.say("two")
	again.mustHear(t, "two")
	require.Eventually(t, func() bool { return p.Links() == 1 }, 30*time.Second, 5*time.Millisecond)
}

func TestABlackHoleGoesOnWhereItStopped(t *testing.T) {
	p, _ := newProxy(t)
	c := dial(t, p)
	c.say("one")
	c.mustHear(t, "one")
	p.Set(rig.BlackHole)
	c.say("two")
	fresh := dial(t, p)
	fresh.say("three")
	_, err := c.hear(100 * time.Millisecond)
	require.True(t, timedOut(err))
	_, err = fresh.hear(10 * time.Millisecond)
	require.True(t, timedOut(err))
	p.Set(rig.Pass)
	c.mustHear(t, "two")
	fresh.mustHear(t, "three")
}

// Connections of a node are counted at the node.
func TestConnectionsThatANodeHasDroppedDoNotCount(t *testing.T) {
	p, _ := newProxy(t)
	p.Set(rig.BlackHole)
	c := dial(t, p)
	dial(t, p)
	c.say("one")
	require.Equal(t, 2, rig.OpenTo("/proc/self", p.Addr()))
	require.Zero(t, rig.OpenTo(fmt.Sprintf("/proc/%d", os.Getppid()), p.Addr()), "another process has none of them")
	require.NoError(t, c.Close())
	require.Equal(t, 1, rig.OpenTo("/proc/self", p.Addr()))
}

func TestASlowProxyDelays(t *testing.T) {
	p, _ := newProxy(t)
	p.SlowBy(150 * time.Millisecond)
	c, began := dial(t, p), time.Now()
	c.say("one")
	c.mustHear(t, "one")
	require.Greater(t, time.Since(began), 150*time.Millisecond)
}

func TestAHalfOpenConnectionIsDeadAndDoesNotSay(t *testing.T) {
	p, heard := newProxy(t)
	c := dial(t, p)
	c.say("one")
	c.mustHear(t, "one")
	<-heard
	p.Set(rig.HalfOpen)
	c.say("two")
	_, err := c.hear(100 * time.Millisecond)
	require.True(t, timedOut(err))
	fresh := dial(t, p)
	fresh.say("three")
	fresh.mustHear(t, "three")
	require.Equal(t, "three", <-heard, "what was said to a dead connection is lost")
	p.Set(rig.Pass)
	_, err = c.hear(30 * time.Second)
	require.Error(t, err)
	require.False(t, timedOut(err), "now it is told")
}

func TestAReplyOfACommitIsLost(t *testing.T) {
	p, heard := newProxy(t)
	p.DropReplies(1)
	c := dial(t, p)
	c.say("BEGIN")
	c.mustHear(t, "BEGIN")
	c.say("COMMIT")
	_, err := c.hear(30 * time.Second)
	require.Error(t, err)
	require.False(t, timedOut(err))
	require.Equal(t, "BEGIN", <-heard)
	require.Equal(t, "COMMIT", <-heard, "the server had it")
	require.Equal(t, 1, p.Dropped())
	again := dial(t, p)
	again.say("COMMIT")
	again.mustHear(t, "COMMIT")
}
