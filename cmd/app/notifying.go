package app

import (
	"context"
	"math/rand/v2"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	manager "github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
)

// sending are the parts that send messages about alerts, on each node.
type sending struct {
	notifier *manager.Notifier
	channels *notify.Channels
	renderer *template.Renderer
	seals    *channel.Seals
	// planned wakes the notifier of each node.
	planned func()
}

// newSending puts what former keys sealed under the current one. Raised is called when a
// message that cannot be delivered has raised an alert.
func newSending(
	ctx context.Context, b base, s storage, c *cluster, tasks *periodic.Tasks, raised func(),
) (n sending, err error) {
	channels, seals := notify.New(b.machine, notify.Settings{Guard: b.guard}), channel.NewSeals(s.keys)
	b.opened.addQuiet(channels.Close)
	renderer, err := template.New(b.machine, b.zone, notify.DialectOf)
	if err != nil {
		return n, err
	}
	open := b.options.OpenChannel
	if open == nil {
		open = func(t alert.ChannelType, config alert.ChannelConfig) (manager.Channel, error) {
			return channels.Open(t, config)
		}
	}
	moved, err := seals.Reseal(ctx, s.Store)
	if err != nil { // messages through these channels fail by themselves, and say why
		b.logger.Error("some channels could not be put under the current key", "error", err)
	}
	if moved > 0 {
		b.logger.Info("channels were put under the current key", "count", moved, "key", s.keys.Current())
	}
	notifier := manager.New(manager.Deps{
		Store: s.Store, Notifications: s.Store, Settings: s.Store,
		Open: open, Config: seals.Config, Renderer: renderer, PublicURL: b.cfg.Server.PublicURL,
		Clock: b.machine, StoreClock: s.Clock, NodeID: b.cfg.Node.ID, Random: rand.Float64, Metrics: b.Metrics,
		Raised: raised, Note: tasks.Watch("notifier", manager.Interval), Logger: b.logger,
	})
	planned := notifier.Wake
	if c != nil {
		planned = func() {
			notifier.Wake()
			c.notifier.MessagesPlanned()
		}
	}
	return sending{notifier, channels, renderer, seals, planned}, nil
}
