package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// TargetCommand is the hidden command by which a bench starts the server that HTTP jobs call.
const TargetCommand = "bench-target"

// TargetSettings is the first line that a target reads.
type TargetSettings struct {
	// Hosts is the number of addresses on which it listens, from 127.0.0.1 on.
	Hosts int
}

const (
	// keepFor is the time between two reports of a target. They are rare, to leave the processor to those
	// who are measured.
	keepFor = time.Second
	// headerBound is how long a call may take to come.
	headerBound = 10 * time.Second
)

// RunTarget is the server that the HTTP jobs of a bench call, at /NUMBER for the job of a number. It reads its settings
// from in, and writes a record of the port of each host to out, in order, and one of every call. It ends when in does,
// and tells all that it has seen.
func RunTarget(ctx context.Context, in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	var settings TargetSettings
	if err := decoder.Decode(&settings); err != nil {
		return fmt.Errorf("read the target's settings: %w", err)
	}
	t := &target{clock: clock.NewSystem(), out: &recordWriter{out: out}}
	server := &http.Server{Handler: t, ReadHeaderTimeout: headerBound}
	if err := t.listen(ctx, server, settings.Hosts); err != nil {
		return errors.Join(err, server.Close())
	}
	t.out.flush()
	ended, stop := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	for clock.Sleep(ended, t.clock, keepFor) == nil {
		t.out.flush()
	}
	err := server.Close()
	t.out.flush()
	return err
}

// target notes when it is called.
type target struct {
	clock clock.Clock
	out   *recordWriter
}

// listen serves on so many addresses of this machine.
func (t *target) listen(ctx context.Context, server *http.Server, hosts int) error {
	var listen net.ListenConfig
	for i := range hosts {
		l, err := listen.Listen(ctx, "tcp", net.JoinHostPort(TargetHost(i), "0"))
		if err != nil {
			return fmt.Errorf("listen for calls: %w", err)
		}
		go func() { _ = server.Serve(l) }()
		t.out.put(numberRecord(RecordPort, int64(l.Addr().(*net.TCPAddr).Port)))
	}
	return nil
}

// TargetHost is the address of a host by its number.
func TargetHost(i int) string { return "127.0.0." + strconv.Itoa(i+1) }

// ServeHTTP notes a call, by the headers with which the run tells its time and its attempt.
func (t *target) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	at := t.clock.Now()
	s, err := callOf(q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.At = at.UnixMicro()
	t.out.starts(s)
	_, _ = io.WriteString(w, "done\n")
}

// callOf reads which fire calls.
func callOf(q *http.Request) (s measure.StartEvent, err error) {
	job, err := strconv.ParseUint(strings.TrimPrefix(q.URL.Path, "/"), 10, 32)
	if err != nil {
		return s, errors.New("the path names no job of the bench")
	}
	scheduled, err := time.Parse(clock.Layout, q.Header.Get("X-Scheduler-Scheduled-Time"))
	if err != nil {
		return s, errors.New("the call has no scheduled time")
	}
	attempt, err := strconv.ParseUint(q.Header.Get("X-Scheduler-Attempt"), 10, 8)
	if err != nil {
		return s, errors.New("the call has no attempt")
	}
	return measure.StartEvent{ScheduledTime: scheduled.UnixMilli(), Job: uint32(job), Attempt: uint8(attempt)}, nil
}
