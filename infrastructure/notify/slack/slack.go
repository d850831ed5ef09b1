// Package slack sends messages through incoming webhooks of Slack, and of services that take the
// same, such as Mattermost.
package slack

import (
	"context"
	"regexp"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// maxText and maxTitle are Slack's bounds of a section and of a header, in characters.
	maxText     = 3000
	maxTitle    = 150
	maxMentions = 20
)

// Type is that of these channels.
const Type alert.ChannelType = "SLACK"

// Config is the configuration of a channel.
type Config struct {
	// Webhook is the address; whoever knows it may post.
	Webhook channelconfig.Secret `json:"webhook"`
	// Mentions are people and groups to call: ids, or here, channel and everyone.
	Mentions []string `json:"mentions"`
}

var mention = regexp.MustCompile(`^(here|channel|everyone|[UW][A-Z0-9]{1,30}|S[A-Z0-9]{1,30})$`)

// Channel is one webhook. Safe for concurrent use.
type Channel struct{ post.Channel[Config] }

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	c, wrong := post.Open(text, client, Config{}, func(c *Config, p *channelconfig.Problems) {
		p.URL("webhook", string(c.Webhook), client.Guard)
		p.Each("mentions", c.Mentions, maxMentions, mention,
			"the id of a person (U…, W…) or of a group (S…), or here, channel or everyone")
	})
	return &Channel{c}, wrong
}

type message struct {
	// Text is what notifications show; it is mrkdwn.
	Text   string  `json:"text"`
	Blocks []block `json:"blocks"`
}

type block struct {
	Type string `json:"type"`
	Text text   `json:"text"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Verbatim keeps Slack from making links and mentions of plain text.
	Verbatim bool `json:"verbatim,omitempty"`
}

// Send sends a message. Slack says with the status alone whether it took it.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	title := markup.Cut(markup.Slack.Title(m.Content), maxTitle, markup.Runes)
	at := c.mentions()
	section, listed := markup.Form{
		Text: markup.Slack.Body, Fits: markup.Within(maxText-len(at), markup.Runes), Spell: markup.Slack.Escape,
	}.Fill(m)
	section += at
	message := message{Text: markup.Slack.Escape(title)}
	if title != "" {
		message.Blocks = append(message.Blocks, block{Type: "header", Text: text{Type: "plain_text", Text: title}})
	}
	if section != "" {
		message.Blocks = append(message.Blocks, block{
			Type: "section", Text: text{Type: "mrkdwn", Text: section, Verbatim: true},
		})
	}
	return c.Deliver(ctx, post.Letter{
		URL: string(c.Config.Webhook), Message: message, Listed: listed, Result: post.Answer.Result,
	})
}

func (c *Channel) mentions() string {
	var marks []string
	for _, who := range c.Config.Mentions {
		switch who[0] {
		case 'U', 'W':
			marks = append(marks, "<@"+who+">")
		case 'S':
			marks = append(marks, "<!subteam^"+who+">")
		default:
			marks = append(marks, "<!"+who+">")
		}
	}
	return markup.Below("\n", marks, " ")
}
