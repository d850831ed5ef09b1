// Package worker runs jobs for the scheduler inside a Go program, without a store and without a port: it dials out,
// says what it can, and waits for work.
//
//	w, err := worker.New(worker.Options{
//		Servers: []string{"https://a:8080", "https://b:8080"}, TokenFile: "/run/ps-token", Group: "shop",
//		Handlers: map[string]sdk.Handler{"settle": sdk.HandlerFunc(settle)},
//	})
//	…
//	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
//	defer stop()
//	err = w.Run(ctx) // drains when ctx ends
//
// The handlers are those of package sdk, so they move between a server, an embedded engine and a worker unchanged.
// The worker calls one of the servers; when that goes away, it calls the next one, and what runs goes on. Ends of runs
// are held until a server has confirmed that they are stored.
package worker
