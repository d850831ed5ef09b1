// Command shop is a program whose jobs run inside it.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
)

func main() {
	grace, err := strconv.Atoi(cmp.Or(os.Getenv("GRACE_SECONDS"), "20"))
	if err != nil {
		log.Fatalf("GRACE_SECONDS: %v", err)
	}
	w, err := worker.New(worker.Options{
		Servers:   []string{cmp.Or(os.Getenv("SERVER"), "http://127.0.0.1:8080")},
		TokenFile: cmp.Or(os.Getenv("TOKEN_FILE"), "worker-token"),
		Group:     "examples",
		Instance:  "go",
		Slots:     4,
		Grace:     time.Duration(grace) * time.Second,
		Handlers: map[string]sdk.Handler{
			"export-orders": sdk.Typed(exportOrders),
			"bill-accounts": sdk.Typed(billAccounts),
			"send-mail":     sdk.Typed(sendMail),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := w.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// export is the data of a job: a trigger's params are laid over them.
type export struct {
	Orders int
	Pause  int64 // milliseconds
}

// exportOrders tells its progress.
func exportOrders(ctx context.Context, run *sdk.Run, in export) error {
	for order := range in.Orders {
		if err := pause(ctx, in.Pause); err != nil {
			return err
		}
		run.Log("order %d of %d", order+1, in.Orders)
		run.Progress(100 * (order + 1) / in.Orders)
	}
	run.SetResult(fmt.Sprintf("%d orders", in.Orders))
	return nil
}

type billing struct {
	Accounts int
	Pause    int64
}

// billAccounts goes on behind the last checkpoint. It ends between two accounts when it is asked to: by a cancel, by
// a time-out, or because the program stops and its grace is over.
func billAccounts(ctx context.Context, run *sdk.Run, in billing) error {
	done := 0
	if last := run.LastCheckpoint(); last != "" {
		var err error
		if done, err = strconv.Atoi(last); err != nil {
			return sdk.Fatal(fmt.Errorf("read the checkpoint: %w", err))
		}
	}
	for done < in.Accounts {
		if err := pause(ctx, in.Pause); err != nil {
			return err
		}
		done++
		run.Log("account %d of %d", done, in.Accounts)
		run.Checkpoint(strconv.Itoa(done))
	}
	run.SetResult(fmt.Sprintf("%d accounts", done))
	return nil
}

type mail struct{ To string }

// sendMail finds the mail server busy at its first attempt. Its policy of retries allows the second one.
func sendMail(_ context.Context, run *sdk.Run, in mail) error {
	if in.To == "" {
		return sdk.Fatal(errors.New("a mail without a receiver never works"))
	}
	if run.Attempt() == 1 {
		return sdk.RetryAfter(time.Second, errors.New("the mail server is busy"))
	}
	run.Log("mail to %s", in.To)
	run.SetResult("sent to " + in.To)
	return nil
}

// pause stands for the work. It ends at once when the run is to stop.
func pause(ctx context.Context, milliseconds int64) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Duration(milliseconds) * time.Millisecond):
		return nil
	}
}
