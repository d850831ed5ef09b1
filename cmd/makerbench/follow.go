package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// followers are all followers of a bench.
type followers struct {
	wait sync.WaitGroup
	all  []*follower
}

// runReader reads runs.
type runReader interface {
	Get(ctx context.Context, id string) (*entity.Execution, error)
}

// startBound is how long the runs and their streams may take to begin.
const startBound = 30 * time.Second

// follow opens a stream for each run as soon as it has begun, each with a session of its own, and
// returns when every stream is open.
func (b logs) follow(ctx context.Context, server string, sessions []string, runs runReader, news *logWriters,
	torrent map[string]bool,
) (*followers, error) {
	t := &followers{}
	n := len(sessions)
	transport := &http.Client{Transport: &http.Transport{}}
	open := make(chan error, n)
	bound, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	for _, session := range sessions {
		select {
		case <-bound.Done():
			return nil, fmt.Errorf("only %d of %d runs have begun; raise --slots", len(t.all), n)
		case id := <-news.started:
			run, err := runs.Get(ctx, id)
			if err != nil {
				return nil, err
			}
			c := &client.Client{Server: server, Token: session, HTTP: transport}
			f := &follower{clock: b.Clock, client: c, execution: id, torrent: torrent[run.JobID]}
			t.all = append(t.all, f)
			t.wait.Go(func() { f.follow(ctx, open) })
		}
	}
	for range n {
		select {
		case <-bound.Done():
			return nil, errors.New("the streams did not open")
		case err := <-open:
			if err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// sum adds up what the followers have seen.
func (t *followers) sum(news *logWriters) (out *report.Tail, planned, lost, disorder int, err error) {
	out = &report.Tail{Tails: len(t.all)}
	var slow, fast []float64
	for _, f := range t.all {
		if f.err != nil {
			return nil, 0, 0, 0, fmt.Errorf("follow the log of run %s: %w", f.execution, f.err)
		}
		said := news.written[f.execution]
		planned += said
		lost += max(said-len(f.delays), 0)
		disorder += f.disorder
		out.Lines += len(f.delays)
		out.Reconnects += f.reconnects
		if f.torrent {
			fast = append(fast, f.delays...)
		} else {
			slow = append(slow, f.delays...)
		}
	}
	out.DelayMs, out.TorrentDelayMs = measure.Summarize(slow), measure.Summarize(fast)
	return out, planned, lost, disorder, nil
}

// follower follows one log.
type follower struct {
	clock     clock.Clock
	client    *client.Client
	execution string
	torrent   bool

	last       int64
	ended      bool
	delays     []float64
	disorder   int
	reconnects int
	err        error
}

// follow reads the stream to its end event; opened gets the error of its begin.
func (f *follower) follow(ctx context.Context, opened chan<- error) {
	for first := true; !f.ended; first = false {
		after := ""
		if !first {
			f.reconnects++
			after = strconv.FormatInt(f.last, 10)
		}
		body, err := f.client.Stream(ctx, "/executions/"+f.execution+"/logs/stream", after)
		if first {
			opened <- err
		}
		if err == nil {
			err = f.read(body)
			_ = body.Close()
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			f.err = err
			return
		}
	}
}

// read takes events as they come.
func (f *follower) read(body io.Reader) error {
	in := bufio.NewReaderSize(body, 64<<10)
	var id, event string
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "id: "):
			id = line[4:]
		case strings.HasPrefix(line, "event: "):
			event = line[7:]
		case strings.HasPrefix(line, "data: ") && event == "end":
			f.ended = true
			return nil
		case strings.HasPrefix(line, "data: "):
			if err := f.take(id, line[6:]); err != nil {
				return err
			}
		}
	}
}

// take checks a line: its id follows the last one, and its text is the
// number of the line before it and one.
func (f *follower) take(id, data string) error {
	seq, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return fmt.Errorf("the id of an event: %w", err)
	}
	var said struct {
		Seq  int64  `json:"seq"`
		Line string `json:"line"`
	}
	if err := json.Unmarshal([]byte(data), &said); err != nil {
		return fmt.Errorf("the data of an event: %w", err)
	}
	number, at, _ := strings.Cut(said.Line, " ")
	written, err := strconv.ParseInt(at, 10, 64)
	if err != nil || seq != f.last+1 || said.Seq != seq || number != strconv.FormatInt(seq-1, 10) {
		f.disorder++
	}
	f.last = seq
	f.delays = append(f.delays, float64(f.clock.Monotonic().Microseconds()-written)/1000)
	return nil
}
