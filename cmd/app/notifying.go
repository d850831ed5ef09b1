package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	manager "github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// notifying are the parts that send messages about alerts, on each node.
type notifying struct {
	notifier *manager.Notifier
	channels *notify.Channels
	renderer *template.Renderer
	seals    *channel.Seals
	// planned wakes those who send, on each node.
	planned func()
}

// openNotifying wires them, and puts what former keys sealed under the current one.
func (e *Engine) openNotifying(ctx context.Context, tasks *periodic.Tasks) error {
	zone, err := time.LoadLocation(e.cfg.Server.TimeZone)
	if err != nil {
		return fmt.Errorf("server.timeZone: %w", err)
	}
	calls := e.cfg.Executor.HTTP
	networks, err := outbound.ParseNetworks(calls.AllowCIDRs)
	if err != nil {
		return fmt.Errorf("executor.http.allowCIDRs: %w", err)
	}
	guard := outbound.New(outbound.Policy{AllowPrivate: calls.AllowPrivate, AllowCIDRs: networks})
	n := &notifying{channels: notify.New(e.machine, notify.Settings{Guard: guard}), seals: channel.NewSeals(e.keys)}
	if n.renderer, err = template.New(e.machine, zone); err != nil {
		return err
	}
	moved, err := n.seals.Reseal(ctx, e.Store)
	if err != nil { // messages through these channels fail by themselves, and say why
		e.logger.Error("some channels could not be put under the current key", "error", err)
	}
	if moved > 0 {
		e.logger.Info("channels were put under the current key", "count", moved, "key", e.keys.Current())
	}
	n.notifier = manager.New(manager.Deps{
		Store: e.Store, Notifications: e.Store, Settings: e.Store,
		Open: func(t alert.ChannelType, config alert.ChannelConfig) (manager.Channel, error) {
			return n.channels.Open(t, config)
		},
		Config: n.seals.Config, Renderer: n.renderer, Clock: e.machine, StoreClock: e.Clock, NodeID: e.Member.Self().ID,
		Random: rand.Float64, Metrics: e.Metrics, Raised: func() { e.alerts.loop.Wake() },
		Note: tasks.Watch("notifier", manager.Interval), Logger: e.logger,
	})
	n.planned = n.notifier.Wake
	if e.cluster != nil {
		n.planned = func() {
			n.notifier.Wake()
			e.cluster.notifier.MessagesPlanned()
		}
	}
	e.events.onAlert = n.notifier.Wake
	e.notifying = n
	return nil
}
