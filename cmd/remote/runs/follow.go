package runs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/answer"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
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
func follow(k *remote.Call, id string) error {
	_, o, err := ended(k, id, false)
	switch {
	case err != nil:
		return err
	case o.Text("status") != succeeded:
		return fmt.Errorf("the run ended as %s", outcome(o))
	case k.ForPeople():
		k.Note("the run succeeded in {durationMs|took}, attempt {attempt}[ on {nodeId}]", o)
	}
	return nil
}

// ended is a run when it is over. Until then its log is printed, unless that is to be silent.
func ended(k *remote.Call, id string, silent bool) (run json.RawMessage, o remote.Object, err error) {
	f := &follower{
		lineWriter: lineWriter{Session: k.Session, timestamps: k.On("timestamps")}, api: k.API,
		path: "/executions/" + remote.Segment(id), silent: silent,
	}
	ctx := k.Cmd.Context()
	err = f.persist(ctx, func() error { return f.stream(ctx) })
	f.endOpen(nil)
	if err != nil {
		return nil, nil, err
	}
	err = f.persist(ctx, func() error { return f.api.Call(ctx, "GET", f.path, nil, nil, &run) })
	if err == nil {
		o, err = answer.Decode(run)
	}
	return run, o, err
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

// persist does something again, after growing waits, until it succeeds or fails
// for a reason that waiting does not cure.
func (f *follower) persist(ctx context.Context, try func() error) error {
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
		if err := clock.Sleep(ctx, f.Clock, pause); err != nil {
			return err
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
		f.Event(json.RawMessage(data))
		return f.Failed()
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

// waiting are the flags of a command that starts runs.
var waiting = []remote.Flag{
	{
		Name: "wait", Short: "w", Default: false,
		Help: "follow the run to its end; the exit code is 1 unless it succeeds",
	},
	{Name: "timestamps", Short: "t", Default: false, Help: "with --wait, begin each line of the log with its time"},
}

// Starting completes a command that starts runs: it prints their ids or, with --wait, what becomes of them.
func Starting(v remote.Verb) remote.Verb {
	v.Own, v.Method = slices.Concat(v.Own, waiting), "POST"
	body := v.Body
	v.Body = func(k *remote.Call, params map[string]any) (any, error) {
		switch {
		case k.On("timestamps") && !k.On("wait"):
			return nil, usage.Errorf("--timestamps goes with --wait")
		case body == nil:
			return nil, nil
		}
		return body(k, params)
	}
	v.Watch = func(k *remote.Call) bool { return k.On("wait") }
	v.Then = func(k *remote.Call, o remote.Object) error {
		if k.On("wait") {
			return followAll(k, o.Texts("executionIds"))
		}
		k.Lines(o.Texts("executionIds"))
		return nil
	}
	return v
}

// followAll prints the log of one run after the other, shards of a fire, until all
// have ended. For programs it prints the runs as they ended.
func followAll(k *remote.Call, ids []string) error {
	if !k.ForPeople() {
		return awaitAll(k, ids)
	}
	if len(ids) == 1 {
		k.Notef("%s", ids[0])
		return follow(k, ids[0])
	}
	failed := 0
	for i, id := range ids {
		k.Notef("--- shard %d/%d: %s ---", i+1, len(ids), id)
		if err := follow(k, id); err != nil {
			k.Notef("%v", err)
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d shards did not succeed", failed, len(ids))
	}
	return nil
}

// awaitAll prints runs as the API answers them when the last one has ended.
func awaitAll(k *remote.Call, ids []string) error {
	var runs []json.RawMessage
	var wrong error
	for _, id := range ids {
		raw, o, err := ended(k, id, true)
		if err != nil {
			return err
		}
		if o.Text("status") != succeeded {
			wrong = errors.Join(wrong, fmt.Errorf("the run %s ended as %s", id, outcome(o)))
		}
		runs = append(runs, raw)
	}
	output.Items(&k.Printer, runs)
	return wrong
}
