package alert

import (
	"fmt"
	"io"
	"log/slog"
)

// ChannelType says how a channel tells of alerts. The names are those of the wire.
type ChannelType string

// The types that are told in a way of their own: programs get each alert, and mail goes to people of
// teams, too. The table of infrastructure/notify has all types.
const (
	ChannelWebhook      ChannelType = "WEBHOOK"
	ChannelEmail        ChannelType = "EMAIL"
	ChannelAlertmanager ChannelType = "ALERTMANAGER"
)

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
	// Partial is there for a channel of a document, which may leave secrets out; nil elsewhere. The check fills it in.
	Partial *PartialChannel `json:"-"`
}

// PartialChannel is what the check of a channel of a document finds.
type PartialChannel struct {
	// Missing are the fields that the channel needs and nobody has given. Such a channel is stored disabled.
	Missing []string
	// Changed: the configuration is not the stored one.
	Changed bool
	// Unreadable: the stored configuration cannot be opened.
	Unreadable bool
}

// ChannelConfig is the configuration of a channel: one JSON object with its secrets in clear
// text. Code that prints or marshals it gets a mask. To store or to read it, convert it to string.
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
