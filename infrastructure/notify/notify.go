// Package notify opens the channels that alerts go through, by their type. It knows nothing of
// alerts in the store.
package notify

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/alertmanager"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/dingtalk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/email"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/feishu"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/slack"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/telegram"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/webhook"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/wecom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// Settings are what channels need.
type Settings struct {
	// Guard checks each address before it is dialled; nil allows the public internet alone.
	Guard *outbound.Guard
	// Roots sign the certificates that are trusted; nil stands for the system's roots.
	Roots *x509.CertPool
	// Timeout bounds one attempt; 0 is the default of the type.
	Timeout time.Duration
}

// Channel sends messages.
type Channel interface {
	// Send makes one attempt.
	Send(ctx context.Context, m alert.Message) alert.SendResult
}

// Channels opens channels. Safe for concurrent use.
type Channels struct {
	client *post.Client
	mail   email.Settings
}

// New returns Channels; Close closes the connections that they keep.
func New(c clock.Clock, s Settings) *Channels {
	return &Channels{
		client: post.New(c, post.Settings{Guard: s.Guard, Roots: s.Roots, Timeout: s.Timeout}),
		mail:   email.Settings{Guard: s.Guard, Roots: s.Roots, Timeout: s.Timeout},
	}
}

// Close closes unused connections.
func (c *Channels) Close() { c.client.Close() }

// kind is all that the product knows of a type of channel, beside its package and its texts.
type kind struct {
	of   alert.ChannelType
	open func(text alert.ChannelConfig) (Channel, []apperror.Field)
	// config is a new, empty configuration. Its fields make the form of the console.
	config any
	// target names the fields that say where secrets are sent.
	target []string
	// dialect marks up its messages.
	dialect markup.Dialect
	// reach is how it reaches the people on call; nil: it reaches nobody in particular.
	reach alert.Reach
}

// kinds has a row for each type, in the order in which they are shown.
func (c *Channels) kinds() []kind {
	return []kind{
		{
			alert.ChannelEmail, over(c.mail, email.Open), &email.Config{},
			[]string{"host", "port", "tls"},
			markup.FullWidth,
			alert.ByMail,
		},
		{alert.ChannelWebhook, over(c.client, webhook.Open), &webhook.Config{}, []string{"url"}, markup.FullWidth, nil},
		{dingtalk.Type, over(c.client, dingtalk.Open), &dingtalk.Config{}, nil, markup.FullWidth, alert.ByPhone},
		{wecom.Type, over(c.client, wecom.Open), &wecom.Config{}, nil, markup.FullWidth, alert.ByChat},
		{feishu.Type, over(c.client, feishu.Open), &feishu.Config{}, nil, markup.Feishu, alert.ByChat},
		{slack.Type, over(c.client, slack.Open), &slack.Config{}, nil, markup.Slack, nil},
		{telegram.Type, over(c.client, telegram.Open), &telegram.Config{}, []string{"apiUrl"}, markup.Telegram, nil},
		{
			alert.ChannelAlertmanager, over(c.client, alertmanager.Open), &alertmanager.Config{},
			[]string{"url"},
			markup.FullWidth, nil,
		},
	}
}

func (c *Channels) kind(t alert.ChannelType) (kind, error) {
	for _, k := range c.kinds() {
		if k.of == t {
			return k, nil
		}
	}
	return kind{}, apperror.InvalidField("type", validation.CodeUnknown, "is none of the types of channels")
}

// Types lists every type, in the order in which they are shown.
func Types() []alert.ChannelType {
	var out []alert.ChannelType
	for _, k := range (&Channels{}).kinds() {
		out = append(out, k.of)
	}
	return out
}

// Types is Types, for those who know channels by an interface.
func (*Channels) Types() []alert.ChannelType { return Types() }

// DialectOf is how messages of a type are marked up.
func DialectOf(t alert.ChannelType) markup.Dialect {
	k, _ := (&Channels{}).kind(t)
	return k.dialect
}

// ReachOf is how channels of a type reach the people on call; nil: they reach nobody in particular.
func ReachOf(t alert.ChannelType) alert.Reach {
	k, _ := (&Channels{}).kind(t)
	return k.reach
}

// over gives open what it needs, and hides the type of its channels.
func over[N any, C Channel](needs N, open func(alert.ChannelConfig, N) (C, []apperror.Field)) func(
	alert.ChannelConfig) (Channel, []apperror.Field) {
	return func(text alert.ChannelConfig) (Channel, []apperror.Field) {
		channel, wrong := open(text, needs)
		return channel, wrong
	}
}

// Open returns the channel that a configuration describes. The error is an apperror.KindInvalid with
// all wrong fields.
func (c *Channels) Open(t alert.ChannelType, config alert.ChannelConfig) (Channel, error) {
	k, err := c.kind(t)
	if err != nil {
		return nil, err
	}
	channel, wrong := k.open(config)
	if len(wrong) > 0 {
		return nil, apperror.Invalid(wrong)
	}
	return channel, nil
}

// SecretNames lists the fields of a configuration that are written and never read.
func (c *Channels) SecretNames(t alert.ChannelType) ([]string, error) {
	k, err := c.kind(t)
	if err != nil {
		return nil, err
	}
	return channelconfig.SecretNames(k.config), nil
}

// Public returns what clients may read of a configuration, and the names of the secrets that it has.
func (c *Channels) Public(t alert.ChannelType, config alert.ChannelConfig) (open map[string]any, given []string,
	err error,
) {
	k, err := c.kind(t)
	if err != nil {
		return nil, nil, err
	}
	return channelconfig.Public(config, k.config)
}

// Merge returns an edited configuration with the secrets of the old one that the edit leaves out, and
// checks it. An empty value removes a secret. An edit that moves the target must give them again.
func (c *Channels) Merge(t alert.ChannelType, old, edited alert.ChannelConfig) (alert.ChannelConfig, error) {
	k, err := c.kind(t)
	if err != nil {
		return "", err
	}
	merged, wrong, err := k.merge(old, edited)
	if err != nil {
		return "", err
	}
	for _, name := range channelconfig.HiddenAddresses(merged, k.config) {
		wrong = append(wrong, apperror.Field{
			Field: channelconfig.Path + "." + name, Code: "hidden_value",
			Message: "has *** for a value of its query, which stands for what is not shown: write the address whole",
		})
	}
	return merged, apperror.Invalid(wrong)
}

// merge returns what is wrong with the merged configuration apart.
func (k *kind) merge(old, edited alert.ChannelConfig) (merged alert.ChannelConfig, wrong []apperror.Field, err error) {
	if merged, wrong = channelconfig.Merge(old, edited, k.config, k.target); len(wrong) > 0 {
		return "", nil, apperror.Invalid(wrong)
	}
	_, wrong = k.open(merged)
	return merged, wrong, nil
}

// Partial is Merge for a document, which may leave secrets out, or write *** for them. It returns the names of the
// secrets, and of addresses with a hidden query, that are missing then.
func (c *Channels) Partial(t alert.ChannelType, old, edited alert.ChannelConfig) (merged alert.ChannelConfig,
	missing []string, err error,
) {
	k, err := c.kind(t)
	if err != nil {
		return "", nil, err
	}
	open, masked, wrong := channelconfig.Unmasked(edited, k.config)
	if len(wrong) > 0 {
		return "", nil, apperror.Invalid(wrong)
	}
	if merged, wrong, err = k.merge(old, open); err != nil {
		return "", nil, err
	}
	if missing, wrong = channelconfig.Missing(merged, k.config, masked, wrong); len(wrong) > 0 {
		return "", nil, apperror.Invalid(wrong)
	}
	return merged, missing, nil
}
