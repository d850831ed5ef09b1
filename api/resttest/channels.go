package resttest

import (
	"encoding/base64"
	"log/slog"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
	keyring "github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

// channels are the parts that send messages about alerts. They may call this machine.
type channels struct {
	opener   *notify.Channels
	seals    *channel.Seals
	renderer *template.Renderer
	notifier *notifying.Notifier
}

func (b *Backend) channels(log *slog.Logger) channels {
	ring, err := keyring.NewKeyring(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", keyring.KeyBytes))))
	if err != nil {
		panic(err)
	}
	c := channels{
		opener: notify.New(b.Clock, notify.Settings{Guard: notifytest.Loopback()}), seals: channel.NewSeals(ring),
	}
	if c.renderer, err = template.New(b.Clock, time.UTC, notify.DialectOf); err != nil {
		panic(err)
	}
	c.notifier = notifying.New(notifying.Deps{
		Store: b.Store, Notifications: b.Store, Settings: b.Store,
		Open: func(t alert.ChannelType, config alert.ChannelConfig) (notifying.Channel, error) {
			return c.opener.Open(t, config)
		},
		Config: c.seals.Config, Renderer: c.renderer, Clock: b.Clock, StoreClock: b.Time, NodeID: b.ID(),
		Random: func() float64 { return 0 }, Metrics: noCounts{}, Raised: func() {}, Note: func(error) {}, Logger: log,
	})
	return c
}

// noCounts counts nothing.
type noCounts struct{}

func (noCounts) Delivered(string, string) {}

func (noCounts) NotificationDelay(string, time.Duration) {}

func (noCounts) NotificationDead(string) {}
