// Package wecom sends messages through group robots of WeCom.
package wecom

import (
	"context"
	"regexp"
	"slices"
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

// Type is that of these channels.
const Type alert.ChannelType = "WECOM"

// Config is the configuration of a channel.
type Config struct {
	// Webhook is the address of the robot; it holds its key.
	Webhook   channelconfig.Secret `json:"webhook"`
	AtUserIDs []string             `json:"atUserIds"`
}

var userID = regexp.MustCompile(`^[0-9A-Za-z_.-]{1,64}$`)

// Channel is one robot. Safe for concurrent use.
type Channel struct{ post.Channel[Config] }

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	c, wrong := post.Open(text, client, Config{}, func(c *Config, p *channelconfig.Problems) {
		p.URL("webhook", string(c.Webhook), client.Guard)
		p.Each("atUserIds", c.AtUserIDs, maxMentions, userID, "an id of a user")
	})
	return &Channel{c}, wrong
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
	at := c.mentions(m)
	text, listed := markup.Form{
		Text: markup.FullWidth.Body, Fits: markup.Within(maxText-len(at), markup.Bytes), Spell: markup.FullWidth.Escape,
	}.Fill(m)
	return c.Deliver(ctx, post.Letter{
		URL:     string(c.Config.Webhook),
		Message: message{Type: "markdown", Markdown: markdown{Content: text + at}},
		Listed:  listed, Result: post.ByCode("WeCom", refusal),
	})
}

func (c *Channel) mentions(m alert.Message) string {
	var marks []string
	for _, id := range append(slices.Clone(c.Config.AtUserIDs), markup.Called(m, userID, maxMentions)...) {
		marks = append(marks, "<@"+id+">")
	}
	return markup.Below("\n", marks, "")
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
