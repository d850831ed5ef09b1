// Command goworker is the worker of the Go SDK that the conformance suite drives; README.md of test/conformance says
// what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ledger, err := os.OpenFile(os.Getenv("PS_LEDGER"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the ledger: %w", err)
	}
	defer func() { _ = ledger.Close() }() // each line was written at once
	w, err := worker.New(worker.Options{
		Servers: strings.Split(os.Getenv("PS_SERVERS"), ","), TokenFile: os.Getenv("PS_TOKEN_FILE"),
		Group: os.Getenv("PS_GROUP"), Instance: os.Getenv("PS_INSTANCE"), Slots: number("PS_SLOTS", 8),
		Grace:    time.Duration(number("PS_GRACE_MS", 5000)) * time.Millisecond,
		CAFile:   os.Getenv("PS_CA_FILE"),
		Handlers: (&book{file: ledger}).handlers(),
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		os.Exit(3)
	}()
	return w.Run(ctx)
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// data is what the jobs of the suite say.
type data struct {
	Text  string
	Ms    int
	Lines int
	Size  int
	Bytes int
	N     int
}

type handler = func(ctx context.Context, run *sdk.Run, in data) error

// book writes each begin and end of a handler to the ledger.
type book struct {
	mu   sync.Mutex
	file *os.File
}

func (b *book) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := fmt.Fprintf(b.file, format+"\n", args...); err != nil {
		fmt.Fprintln(os.Stderr, "the ledger cannot be written:", err)
	}
}

func (b *book) handlers() map[string]sdk.Handler {
	out := map[string]sdk.Handler{}
	for name, handle := range map[string]handler{
		"ok": func(_ context.Context, run *sdk.Run, _ data) error {
			run.SetResult("ok")
			return nil
		},
		"echo": func(_ context.Context, run *sdk.Run, in data) error {
			run.SetResult(in.Text)
			return nil
		},
		"fail":  func(context.Context, *sdk.Run, data) error { return errors.New("it failed") },
		"fatal": func(context.Context, *sdk.Run, data) error { return sdk.Fatal(errors.New("no use")) },
		"retryafter": func(context.Context, *sdk.Run, data) error {
			return sdk.RetryAfter(time.Minute, errors.New("later"))
		},
		"panic":      func(context.Context, *sdk.Run, data) error { panic("broken") },
		"sleep":      sleep,
		"async":      sleep,
		"deaf":       deaf,
		"log":        logLines,
		"big":        big,
		"progress":   progress,
		"checkpoint": checkpoint,
		"busy":       busy,
	} {
		out[name] = sdk.HandlerFunc(func(ctx context.Context, run *sdk.Run) (err error) {
			how := "panic"
			b.note("begin %s:%d", run.ExecutionID(), run.FencingToken())
			defer func() { b.note("end %s:%d %s", run.ExecutionID(), run.FencingToken(), how) }()
			var in data
			if err = run.Decode(&in); err == nil {
				err = handle(ctx, run, in)
			}
			how = "returned"
			if why := sdk.WhyStopped(ctx); why != sdk.StopNone {
				how = string(why)
			}
			return err
		})
	}
	return out
}

func sleep(ctx context.Context, _ *sdk.Run, in data) error {
	select {
	case <-time.After(time.Duration(in.Ms) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func deaf(_ context.Context, _ *sdk.Run, in data) error {
	time.Sleep(time.Duration(in.Ms) * time.Millisecond)
	return nil
}

func logLines(_ context.Context, run *sdk.Run, in data) error {
	for i := range in.Lines {
		line := fmt.Sprintf("line %d", i+1)
		if missing := in.Size - len(line); missing > 0 {
			line += strings.Repeat("x", missing)
		}
		run.Log("%s", line)
	}
	return nil
}

func big(_ context.Context, run *sdk.Run, in data) error {
	run.SetResult(strings.Repeat("ä", in.Bytes))
	return nil
}

func progress(_ context.Context, run *sdk.Run, _ data) error {
	for i := range 100 {
		run.Progress(i + 1)
	}
	run.SetResult("done")
	return nil
}

func checkpoint(ctx context.Context, run *sdk.Run, in data) error {
	run.Log("last %s", run.LastCheckpoint())
	for i := range in.N {
		run.Checkpoint(fmt.Sprintf("c%d", i+1))
	}
	return sleep(ctx, run, in)
}

func busy(_ context.Context, _ *sdk.Run, in data) error {
	for until := time.Now().Add(time.Duration(in.Ms) * time.Millisecond); time.Now().Before(until); {
	}
	return nil
}
