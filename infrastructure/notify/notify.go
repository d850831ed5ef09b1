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

// kind is what a type of channel needs to be known by.
type kind struct {
	open func(text alert.ChannelConfig) (Channel, []apperror.Field)
	// config is a new, empty configuration.
	config any
	// target names the fields that say where secrets are sent.
	target []string
}

func (c *Channels) kind(t alert.ChannelType) (kind, error) {
	switch t {
	case alert.ChannelWebhook:
		return kind{over(c.client, webhook.Open), &webhook.Config{}, webhook.Target()}, nil
	case alert.ChannelDingTalk:
		return kind{over(c.client, dingtalk.Open), &dingtalk.Config{}, dingtalk.Target()}, nil
	case alert.ChannelWeCom:
		return kind{over(c.client, wecom.Open), &wecom.Config{}, wecom.Target()}, nil
	case alert.ChannelFeishu:
		return kind{over(c.client, feishu.Open), &feishu.Config{}, feishu.Target()}, nil
	case alert.ChannelSlack:
		return kind{over(c.client, slack.Open), &slack.Config{}, slack.Target()}, nil
	case alert.ChannelTelegram:
		return kind{over(c.client, telegram.Open), &telegram.Config{}, telegram.Target()}, nil
	case alert.ChannelAlertmanager:
		return kind{over(c.client, alertmanager.Open), &alertmanager.Config{}, alertmanager.Target()}, nil
	case alert.ChannelEmail:
		return kind{over(c.mail, email.Open), &email.Config{}, email.Target()}, nil
	default:
		return kind{}, apperror.InvalidField("type", validation.CodeUnknown, "is none of the types of channels")
	}
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
	merged, wrong := channelconfig.Merge(old, edited, k.config, k.target)
	if len(wrong) > 0 {
		return "", apperror.Invalid(wrong)
	}
	if _, wrong := k.open(merged); len(wrong) > 0 {
		return "", apperror.Invalid(wrong)
	}
	return merged, nil
}
