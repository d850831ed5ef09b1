package worker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

func handler() sdk.Handler {
	return sdk.HandlerFunc(func(context.Context, *sdk.Run) error { return nil })
}

func TestOptionsAreRefusedWithTheirName(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(empty, []byte(" \n"), 0o600))
	for _, c := range []struct {
		why    string
		change func(o *Options)
	}{
		{"Servers is empty", func(o *Options) { o.Servers = nil }},
		{`Servers: "a:8080" is no address`, func(o *Options) { o.Servers = []string{"a:8080"} }},
		{`Servers: "ftp://a"`, func(o *Options) { o.Servers = []string{"ftp://a"} }},
		{"http would show the token", func(o *Options) { o.Servers = []string{"https://a", "http://a:8080"} }},
		{"either Token or TokenFile", func(o *Options) { o.Token = "" }},
		{"either Token or TokenFile", func(o *Options) { o.TokenFile = "x" }},
		{"read TokenFile", func(o *Options) { o.Token, o.TokenFile = "", filepath.Join(t.TempDir(), "none") }},
		{"does not hold a token", func(o *Options) { o.Token, o.TokenFile = "", empty }},
		{"Group is empty", func(o *Options) { o.Group = "" }},
		{"CommandSlots is negative", func(o *Options) { o.CommandSlots = -1 }},
		{"Executor is nil", func(o *Options) { o.HTTP = true }},
		{"Command is nil", func(o *Options) { o.CommandSlots = 1 }},
		{"Weight is negative", func(o *Options) { o.Weight = -1 }},
		{"Grace is negative", func(o *Options) { o.Grace = -1 }},
		{`the handler "settle"`, func(o *Options) { o.Handlers["settle"] = nil }},
		{`the job "nightly" names the handler "x"`, func(o *Options) { o.Jobs = []Job{{Handler: "x", Name: "nightly"}} }},
		{`the job "settle" has schedule`, func(o *Options) {
			o.Jobs = []Job{{Handler: "settle", Cron: "0 0 2 * * ?", Fields: map[string]any{"schedule": nil}}}
		}},
		{`the job "settle" has group`, func(o *Options) {
			o.Jobs = []Job{{Handler: "settle", Fields: map[string]any{"group": "g"}}}
		}},
		{`the job "settle" is no JSON`, func(o *Options) {
			o.Jobs = []Job{{Handler: "settle", Fields: map[string]any{"jobData": func() {}}}}
		}},
		{"read CAFile", func(o *Options) { o.CAFile = filepath.Join(t.TempDir(), "none") }},
		{"holds no certificate", func(o *Options) { o.CAFile = empty }},
	} {
		o := Options{
			Servers: []string{"https://a:8080"}, Token: "psw_x", Group: "shop",
			Handlers: map[string]sdk.Handler{"settle": handler()},
		}
		c.change(&o)
		_, err := New(o)
		require.ErrorContains(t, err, c.why)
		require.NotContains(t, err.Error(), "psw_x")
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	require.NoError(t, err)
	o, err := Options{
		Servers: []string{"http://127.0.0.1:8080/", "http://[::1]:8080", "http://localhost"}, Token: "psw_x", Group: "shop",
	}.complete()
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:8080", o.Servers[0])
	require.Equal(t, host, o.Instance)
	require.Equal(t, 8, o.Slots)
	require.Equal(t, 1, o.Weight)
	require.Equal(t, 30*time.Second, o.Grace)
	o, err = Options{
		Servers: []string{"http://a"}, AllowPlain: true, Token: "psw_x", Group: "shop", Slots: -1, CommandSlots: 2,
		Command: handler(),
	}.complete()
	require.NoError(t, err)
	require.Zero(t, o.Slots, "a worker may run commands only")
}

func TestTheOldestLinesGoFirst(t *testing.T) {
	t.Parallel()
	l := lines{first: 1}
	for range 40 {
		l.add(strings.Repeat("x", 8<<10))
	}
	require.LessOrEqual(t, l.bytes, keptLines+200)
	require.Equal(t, int64(41), l.first+int64(len(l.kept)), "numbers go on")
	require.Contains(t, l.kept[0], fmt.Sprint(41-len(l.kept), " lines are missing"))
	from, out, all := l.next()
	require.Equal(t, l.first, from)
	require.False(t, all)
	bytes := 0
	for _, line := range out {
		bytes += len(line) + 1
	}
	require.LessOrEqual(t, bytes, sentLines)
	l.confirm(from + int64(len(out)) - 1)
	require.Equal(t, from+int64(len(out)), l.first)
	l.confirm(1)
	require.Equal(t, from+int64(len(out)), l.first, "a server that knows less brings nothing back")
	l.confirm(1000)
	require.Empty(t, l.kept)
	require.Zero(t, l.bytes)
	require.Equal(t, int64(41), l.first)
}

func TestLinesAreSplitAndCleaned(t *testing.T) {
	t.Parallel()
	l := lines{first: 1}
	l.add("one\ntwo\r\n10%\r20%\nnul \x00")
	require.Equal(t, []string{"one", "two", "10%\r", "20%", "nul \uFFFD"}, l.kept)
}

// A machine that slept is noticed by the clock that went on, and its lease comes nearer.
func TestAMachineThatSlept(t *testing.T) {
	t.Parallel()
	c := clocktest.NewManual(time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC))
	slept := time.Duration(0)
	watch := &sleepWatch{clock: c, elapsed: func() time.Duration { return c.Monotonic() + slept }}
	watch.look()
	w := &Worker{o: Options{Slots: 1}, clock: c, log: slog.New(slog.DiscardHandler)}
	l := newLife(w, registered{WorkerID: "@shop.1", Epoch: 1, LeaseMs: 20_000}, 0)
	l.sleep = watch
	until := l.state.Until()
	l.now()
	require.Equal(t, until, l.state.Until())
	require.False(t, l.wantsPoll() && l.pollAtOnce)
	slept = 7 * time.Second
	l.now()
	require.Equal(t, until-7e9, l.state.Until())
	require.True(t, l.wantsPoll(), "it calls at once")
	l.now()
	require.Equal(t, until-7e9, l.state.Until(), "once")
}

func TestUptime(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/uptime"); err != nil {
		return // only Linux has it
	}
	up, ok := uptime()
	require.True(t, ok)
	require.Positive(t, up)
}
