package alert

import (
	"fmt"
	"io"
	"log/slog"
)

// ChannelType says how a channel tells of alerts. The names are those of the wire.
type ChannelType string

// The types of channels.
const (
	ChannelWebhook      ChannelType = "WEBHOOK"
	ChannelEmail        ChannelType = "EMAIL"
	ChannelDingTalk     ChannelType = "DINGTALK"
	ChannelWeCom        ChannelType = "WECOM"
	ChannelFeishu       ChannelType = "FEISHU"
	ChannelSlack        ChannelType = "SLACK"
	ChannelTelegram     ChannelType = "TELEGRAM"
	ChannelAlertmanager ChannelType = "ALERTMANAGER"
)

// ChannelTypes returns all types, in the order in which they are shown.
func ChannelTypes() []ChannelType {
	return []ChannelType{
		ChannelEmail, ChannelWebhook, ChannelDingTalk, ChannelWeCom, ChannelFeishu, ChannelSlack, ChannelTelegram,
		ChannelAlertmanager,
	}
}

// Channel is a way to tell people, or a program, of alerts. Its configuration is kept
// beside the document, sealed.
type Channel struct {
	Head
	Type ChannelType `json:"type"`
	// Language is that of its messages: en or zh.
	Language string `json:"language,omitempty"`
	// Public is the configuration without its secrets, and Secrets names those that it has.
	Public  map[string]any `json:"public,omitempty"`
	Secrets []string       `json:"secrets,omitempty"`
	// Config is the whole configuration while it is saved; it is never in the document.
	Config ChannelConfig `json:"-"`
}

// ChannelConfig is the configuration of a channel: one JSON object with its secrets in clear
// text. Whatever prints or marshals it gets a mask. To store or to read it, convert it to string.
type ChannelConfig string

// hiddenConfig stands for a configuration where it is printed.
const hiddenConfig = "***"

// Format implements fmt.Formatter for every verb.
func (ChannelConfig) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hiddenConfig) }

// String implements fmt.Stringer.
func (ChannelConfig) String() string { return hiddenConfig }

// LogValue implements slog.LogValuer.
func (ChannelConfig) LogValue() slog.Value { return slog.StringValue(hiddenConfig) }

// MarshalText implements encoding.TextMarshaler; encoding/json uses it, too.
func (ChannelConfig) MarshalText() ([]byte, error) { return []byte(hiddenConfig), nil }
