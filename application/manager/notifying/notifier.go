package notifying

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Interval is how often a notifier looks that nobody wakes.
const Interval = 2 * time.Second

const (
	// fullLook is how many notifications a look finds, at least, behind which there may be others.
	fullLook = 8
	// oldInterval is how often it looks for notifications that are too old.
	oldInterval = time.Minute
	// oldBatch bounds how many of them a turn closes.
	oldBatch = 200
	// drainTime is how long the end of a node waits for messages that are being sent.
	drainTime = 5 * time.Second
)

// Deps are the parts of a Notifier.
type Deps struct {
	Store         repository.Store
	Notifications repository.Notifications
	Settings      repository.AlertSettings
	Open          OpenChannel
	Config        ReadConfig
	Renderer      Renderer
	// PublicURL is where people find the console; "" makes no links.
	PublicURL string
	// Clock measures what this node does; StoreClock is the time that nodes share.
	Clock      clock.Clock
	StoreClock clock.StoreClock
	NodeID     string
	// Random is from 0 to 1.
	Random  func() float64
	Metrics Metrics
	// Raised is called when an alert was made of a notification that is DEAD. It must not
	// wait.
	Raised func()
	// Note is told how each turn ended.
	Note   func(err error)
	Logger *slog.Logger
}

// Notifier sends what is planned. Many may work on one store: a lease decides who sends
// what. Wake and Test are safe for concurrent use; Run is one loop.
type Notifier struct {
	Deps
	gates    *gates
	channels *channels
	texts    *texts
	turns.Signal
	sends sync.WaitGroup
	// looked is when the loop last looked for old notifications. former is this node until
	// the leases of its former life are ended.
	looked time.Duration
	former string
	// swept is when the loop last ended leases of nodes that are gone.
	swept time.Duration
	// leases are those of other nodes whose time is over by the clock.
	leases leases
}

// New wires the parts.
func New(d Deps) *Notifier {
	return &Notifier{
		Deps: d, gates: newGates(), channels: newChannels(d.Config, d.Open), texts: newTexts(d.Settings, d.Clock, d.Logger),
		Signal: turns.NewSignal(), looked: -oldInterval, former: d.NodeID,
		swept: -Interval, leases: leases{},
	}
}

// Trouble says how many channels do not take messages.
func (n *Notifier) Trouble() (reason string, blocks bool) { return n.gates.trouble(), false }

// Run sends until ctx ends. Messages that are being sent then have a while to end.
func (n *Notifier) Run(ctx context.Context) {
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	timer := n.Clock.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-timer.C():
			n.turn(ctx, sending)
		case <-n.Signal:
			n.turn(ctx, sending)
		}
		timer.Reset(Interval)
	}
	done := make(chan struct{})
	go func() {
		n.sends.Wait()
		close(done)
	}()
	end := n.Clock.NewTimer(drainTime)
	defer end.Stop()
	select {
	case <-done:
	case <-end.C():
		stop() // what goes on becomes UNKNOWN
		<-done
	}
}

func (n *Notifier) turn(ctx, sending context.Context) {
	err := batch.Guard(func() error { return n.look(ctx, sending) })
	if ctx.Err() == nil {
		n.Note(err)
	}
}

// RunOnce begins to send what is due, and waits until it is sent.
func (n *Notifier) RunOnce(ctx context.Context) error {
	for {
		err := n.look(ctx, ctx)
		n.sends.Wait()
		select {
		case <-n.Signal: // what has ended makes room for others
		default:
			return err
		}
		if err != nil {
			return err
		}
	}
}

// look begins to send what is due, as far as there is room. An end of a message wakes the
// loop, so that the rest follows.
func (n *Notifier) look(ctx, sending context.Context) error {
	if now := n.Clock.Monotonic(); now-n.swept >= Interval {
		if err := n.Notifications.EndLeasesOfTheDead(ctx, n.former); err != nil {
			return fmt.Errorf("end the leases of nodes that are gone: %w", err)
		}
		n.former, n.swept = "", now
	}
	if now := n.Clock.Monotonic(); now-n.looked >= oldInterval {
		if err := n.giveUp(ctx); err != nil {
			return err
		}
		n.looked = now
	}
	for {
		closed, free, running := n.gates.closed(n.Clock.Monotonic())
		if free <= 0 {
			return nil
		}
		// Messages that this node has just begun may still be in the list, and messages that others may send.
		limit := free + running + min(len(n.leases), maxSeen)
		due, err := n.Notifications.DueNotifications(ctx, n.StoreClock.Now(), closed, limit)
		if err != nil {
			return fmt.Errorf("read notifications that are due: %w", err)
		}
		begun, known := 0, n.gates.known()
		for _, d := range due {
			if !n.mayTake(d) || !n.gates.enter(d, n.Clock.Monotonic()) {
				continue
			}
			begun++
			n.sends.Go(func() { n.send(sending, d) })
		}
		// Of channels that were met here for the first time the next look knows whether they take more.
		if len(due) < min(limit, fullLook) || begun == 0 && n.gates.known() == known {
			return nil
		}
	}
}

// send sends one notification, and has the loop look for what it held back.
func (n *Notifier) send(ctx context.Context, d alert.Notification) {
	err := batch.Guard(func() error { return n.deliver(ctx, d) })
	slower, faster := n.gates.leave(d, n.Clock.Monotonic())
	switch {
	case slower:
		n.Logger.Warn("a channel of alerts takes long for a message, and gets few at once", "channel", d.ChannelID,
			"group", d.ChannelGroup, "over", slowAfter, "atOnce", perSlowChannel)
	case faster:
		n.Logger.Info("a channel of alerts is fast again", "channel", d.ChannelID, "group", d.ChannelGroup)
	}
	if err != nil {
		if ctx.Err() == nil {
			n.Logger.Error("a notification could not be sent; it is tried again", "notification", d.ID, "error", err)
		}
		return // the next look comes by the timer: a store that is away is not asked in a circle
	}
	n.Wake()
}

// giveUp closes what nobody has been able to send for a day, also where a channel that
// does not answer held it back.
func (n *Notifier) giveUp(ctx context.Context) error {
	now := n.StoreClock.Now()
	old, err := n.Notifications.OldNotifications(ctx, now, now.Add(-alert.RetryFor), oldBatch)
	if err != nil {
		return fmt.Errorf("read notifications that are too old: %w", err)
	}
	var errs []error
	for _, o := range old {
		if !n.mayTake(o) {
			continue
		}
		why := "it could not be sent within " + alert.RetryFor.String()
		if o.Why != "" {
			why += ": " + o.Why
		}
		errs = append(errs, n.close(ctx, o, alert.NotificationDead, why))
	}
	return errors.Join(errs...)
}
