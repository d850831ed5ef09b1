package runs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// succeeded is the state of a run that did what it should.
const succeeded = "SUCCESS"

// The waits for a server that does not answer.
const (
	firstWait = 250 * time.Millisecond
	maxWait   = 10 * time.Second
	// firstAnswerWait bounds them until the server has answered once: before that it may
	// be the address that is wrong.
	firstAnswerWait = time.Minute
)

// errLost is a stream that ended before the run did.
var errLost = errors.New("the stream was lost")

// follow prints the log of a run until the run has ended; one that did not
// succeed is an error that says why.
func follow(s *remote.Session, c *cobra.Command, api *client.Client, id string, timestamps bool) error {
	f := &follower{
		lineWriter: lineWriter{Session: s, timestamps: timestamps}, api: api, path: "/executions/" + remote.Segment(id),
	}
	if err := f.toTheEnd(c.Context()); err != nil {
		return err
	}
	e, err := f.ended(c.Context())
	switch {
	case err != nil:
		return err
	case e.Status != succeeded:
		return fmt.Errorf("the run ended as %s", e.outcome())
	case s.ForPeople():
		s.Notef("the run succeeded in %s, attempt %d on %s", remote.Took(e.DurationMs), e.Attempt, e.NodeID)
	}
	return nil
}

// follower reads the log of one run.
type follower struct {
	lineWriter
	api  *client.Client
	path string
	// last is the id of the last line.
	last string
	// silent discards what is read.
	silent bool
	// answered is set once the server has.
	answered bool
}

// toTheEnd reads streams until one reports the run's end.
func (f *follower) toTheEnd(ctx context.Context) error {
	return f.persist(ctx, func() error { return f.stream(ctx) })
}

// ended reads the run when it is over.
func (f *follower) ended(ctx context.Context) (e execution, err error) {
	err = f.persist(ctx, func() error { return f.api.Call(ctx, "GET", f.path, nil, nil, &e) })
	return e, err
}

// persist does something again, after growing waits, until it succeeds or fails
// for a reason that waiting does not cure.
func (f *follower) persist(ctx context.Context, try func() error) error {
	wait := f.Clock.NewTimer(0)
	defer wait.Stop()
	<-wait.C()
	begin, pause, told := f.Clock.Now(), firstWait, false
	for {
		tried := f.Clock.Now()
		err := try()
		if err == nil || !errors.Is(err, errLost) && !client.Transient(err) {
			return err
		}
		if !f.answered && f.Clock.Now().Sub(begin) > firstAnswerWait {
			return err
		}
		if errors.Is(err, errLost) && f.Clock.Now().Sub(tried) > maxWait {
			pause, told = firstWait, false // it did answer
		}
		if client.Transient(err) && !told {
			f.Notef("%v; trying again until the run has ended", err)
			told = true
		}
		wait.Reset(pause)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait.C():
		}
		pause = min(2*pause, maxWait)
	}
}

// stream reads one stream; nil is the end of the run.
func (f *follower) stream(ctx context.Context) error {
	body, err := f.api.Stream(ctx, f.path+"/logs/stream", f.last)
	if err != nil {
		return err
	}
	defer body.Close()
	f.answered = true
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	var event, id, data string
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			event = value
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if event == "end" {
				return f.show(event, data)
			}
			if event == "line" {
				if err := f.show(event, data); err != nil {
					return err
				}
				f.last = id
			}
			event = ""
		}
	}
	return errLost
}

// show prints an event: its data for programs, its line for people.
func (f *follower) show(event, data string) error {
	switch {
	case f.silent:
		return nil
	case !f.ForPeople():
		return f.Event(json.RawMessage(data))
	case event != "line":
		return nil
	}
	var line logLine
	if err := json.Unmarshal([]byte(data), &line); err != nil {
		return fmt.Errorf("a line of the log is not understood: %w", err)
	}
	f.print(line)
	return nil
}
