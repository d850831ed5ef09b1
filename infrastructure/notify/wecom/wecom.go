// Package wecom sends messages through group robots of WeCom.
package wecom

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// maxText is WeCom's bound of a text in Markdown, in bytes.
	maxText     = 4096
	maxMentions = 20
	// blockedFor is how long WeCom counts the messages of a robot.
	blockedFor = time.Minute
)

// Config is the configuration of a channel.
type Config struct {
	// Webhook is the address of the robot; it holds its key.
	Webhook   channelconfig.Secret `json:"webhook"`
	AtUserIDs []string             `json:"atUserIds"`
}

// Target names the fields that say where secrets are sent; the address itself is secret.
func Target() []string { return nil }

var userID = regexp.MustCompile(`^[0-9A-Za-z_.-]{1,64}$`)

// Channel is one robot. Safe for concurrent use.
type Channel struct {
	config Config
	mask   channelconfig.Mask
	client *post.Client
}

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	c := &Channel{client: client}
	if wrong := channelconfig.Decode(text, &c.config); wrong != nil {
		return nil, wrong
	}
	p := &channelconfig.Problems{}
	p.URL("webhook", string(c.config.Webhook), client.Guard)
	p.Each("atUserIds", c.config.AtUserIDs, maxMentions, userID, "an id of a user")
	c.mask = channelconfig.MaskOf(&c.config)
	return c, p.Fields()
}

type message struct {
	Type     string   `json:"msgtype"`
	Markdown markdown `json:"markdown"`
}

type markdown struct {
	Content string `json:"content"`
}

// Send sends a message.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	at := c.mentions()
	text := markup.Cut(markup.FullWidth.Body(m.Content), maxText-len(at), markup.Bytes) + at
	body, err := post.JSON(message{Type: "markdown", Markdown: markdown{Content: text}})
	return c.client.Deliver(ctx, string(c.config.Webhook), c.mask, body, err, post.ByCode("WeCom", refusal))
}

func (c *Channel) mentions() string {
	var b strings.Builder
	for _, id := range c.config.AtUserIDs {
		b.WriteString("<@" + id + ">")
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// refusal judges an answer with a number that is not 0.
func refusal(a post.Answer, number int64, code, text string) alert.SendResult {
	switch number {
	case 45009, 45033: // too many messages; too many at once
		return a.Failed(code, text, max(a.RetryAfter, blockedFor))
	case 93000, 93004, 93008, // the robot does not exist, is off, or is no member of the group
		40008, 40058, 44004, 45002: // form, length or emptiness of the message
		return a.Refused(code, text)
	default:
		return a.Failed(code, text, a.RetryAfter)
	}
}
