// Package notifying sends the notifications that are planned. Any node sends any of them;
// who does, and how often it was tried, stands in the store.
package notifying

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Channel sends messages to people or programs. It knows nothing of alerts in the store.
// Implementations are safe for concurrent use.
type Channel interface {
	// Send makes one attempt, within the bounds of time of the channel, or until ctx ends. It makes
	// at most one delivery. A message that was sent before is sent again with the same id.
	Send(ctx context.Context, m alert.Message) alert.SendResult
}

// OpenChannel returns the channel that a configuration describes. An error is an
// apperror.KindInvalid with all wrong fields.
type OpenChannel func(t alert.ChannelType, config alert.ChannelConfig) (Channel, error)

// ReadConfig opens the sealed configuration of a channel. An error holds no secret.
type ReadConfig func(s alert.Setting) (alert.ChannelConfig, error)

// Renderer makes texts of messages.
type Renderer interface {
	// Render fills the templates in the language, zh or en, for a type of channel. An empty form of the
	// template stands for the default. A template that fails gives the default text and an error that
	// says why, so that no alert is lost.
	Render(ctx context.Context, t alert.ChannelType, language string, template alert.Content, m alert.Message) (
		alert.Content, error)
}

// Metrics counts what became of notifications, by the type of their channel.
type Metrics interface {
	// Delivered counts an attempt.
	Delivered(channelType, result string)
	// NotificationDelay notes after how long a message was sent that was due.
	NotificationDelay(channelType string, d time.Duration)
	// NotificationDead counts one that is given up.
	NotificationDead(channelType string)
}
