package notifying

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// maxOpened bounds the channels that are kept open.
const maxOpened = 1000

// channels keeps channels open, as of their versions. Safe for concurrent use.
type channels struct {
	config ReadConfig
	opener OpenChannel

	mu     sync.Mutex
	opened map[string]opened
}

type opened struct {
	version int
	of      *alert.Channel
	channel Channel
}

func newChannels(config ReadConfig, open OpenChannel) *channels {
	return &channels{config: config, opener: open, opened: map[string]opened{}}
}

// open returns the channel of a setting. An error holds no secret.
func (c *channels) open(s alert.Setting) (*alert.Channel, Channel, error) {
	c.mu.Lock()
	have, ok := c.opened[s.ID]
	c.mu.Unlock()
	if ok && have.version == s.Version {
		return have.of, have.channel, nil
	}
	of, channel, err := c.openNew(s)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.opened) >= maxOpened {
		clear(c.opened)
	}
	c.opened[s.ID] = opened{s.Version, of, channel}
	return of, channel, nil
}

func (c *channels) openNew(s alert.Setting) (*alert.Channel, Channel, error) {
	of, err := alert.Read[alert.Channel](s)
	if err != nil {
		return nil, nil, err
	}
	config, err := c.config(s)
	if err != nil {
		return nil, nil, fmt.Errorf("the configuration of the channel cannot be opened: %w", err)
	}
	channel, err := c.opener(of.Type, config)
	if err != nil {
		return nil, nil, fmt.Errorf("the configuration of the channel is not valid: %w", err)
	}
	return of, channel, nil
}

// textsFor is how long routes and templates are kept: an edit holds a little later.
const textsFor = 2 * time.Second

// texts keeps routes and templates for a moment: a burst of messages asks once.
type texts struct {
	settings repository.AlertSettings
	clock    clock.Clock
	logger   *slog.Logger

	turn      turns.Turn
	read      time.Duration
	groupBy   map[string][]string
	templates map[string]*alert.Template
}

func newTexts(s repository.AlertSettings, c clock.Clock, l *slog.Logger) *texts {
	return &texts{settings: s, clock: c, logger: l, turn: turns.NewTurn(), read: -textsFor}
}

// of returns the labels by which the route of a notification groups, and its template in a
// language. A template that is not known, or cannot be read, is left to the product: a message does
// not wait for its form.
func (t *texts) of(ctx context.Context, n alert.Notification, language string) (groupBy []string, c alert.Content) {
	if n.RouteID == "" && n.TemplateID == "" {
		return nil, c
	}
	if err := t.turn.Take(ctx); err != nil {
		return nil, c
	}
	defer t.turn.Give()
	if now := t.clock.Monotonic(); now-t.read >= textsFor {
		all, err := t.settings.AlertSettings(ctx, []alert.Kind{alert.KindRoute, alert.KindTemplate}, bounds.Settings)
		if err != nil {
			t.logger.Error("the routes and templates of alerts could not be read", "error", err)
		} else {
			t.read = now
			t.keep(all)
		}
	}
	if template := t.templates[n.TemplateID]; template != nil {
		c = template.Content(language)
	}
	return t.groupBy[n.RouteID], c
}

func (t *texts) keep(all []alert.Setting) {
	t.groupBy, t.templates = map[string][]string{}, ruleset.Read[alert.Template](all, alert.KindTemplate, nil)
	maps.DeleteFunc(t.templates, func(_ string, v *alert.Template) bool { return !v.Enabled })
	for id, v := range ruleset.Read[alert.Route](all, alert.KindRoute, nil) {
		t.groupBy[id] = v.GroupBy
	}
}
