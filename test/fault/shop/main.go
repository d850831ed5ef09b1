// Command shop is a worker whose handlers call the target of the fault test, as those of the nodes do. Without the
// build tag failpoints it has none.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := run(log); err != nil {
		log.Error("the worker ends", "error", err)
		os.Exit(1)
	}
}

func run(log *slog.Logger) error {
	w, err := worker.New(worker.Options{
		Servers: strings.Split(os.Getenv("PS_SERVERS"), ","), Token: os.Getenv("PS_TOKEN"), Group: os.Getenv("PS_GROUP"),
		Instance: os.Getenv("PS_INSTANCE"), Slots: slots(), Handlers: failpoint.Handlers(), Logger: log,
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return w.Run(ctx)
}

// slots is how many runs it takes at once.
func slots() int {
	if n, err := strconv.Atoi(os.Getenv("PS_SLOTS")); err == nil {
		return n
	}
	return 16
}
