// Package feishu sends messages through custom robots of Feishu and Lark.
package feishu

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// maxBody bounds a message, in bytes. Feishu takes 30 KB of a card, and its custom robots 20 KB of
	// a request.
	maxBody     = 20_000
	maxTitle    = 200
	maxMentions = 50
)

// Type is that of these channels.
const Type alert.ChannelType = "FEISHU"

// Config is the configuration of a channel.
type Config struct {
	// Webhook is the address of the robot; it holds its token.
	Webhook channelconfig.Secret `json:"webhook"`
	// Secret signs the calls; "" for robots that check words or addresses instead.
	Secret    channelconfig.Secret `json:"secret"`
	AtUserIDs []string             `json:"atUserIds"`
	AtAll     bool                 `json:"atAll"`
}

var userID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// Channel is one robot. Safe for concurrent use.
type Channel struct{ post.Channel[Config] }

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	c, wrong := post.Open(text, client, Config{}, func(c *Config, p *channelconfig.Problems) {
		p.URL("webhook", string(c.Webhook), client.Guard)
		p.Length("secret", string(c.Secret), 256)
		p.Each("atUserIds", c.AtUserIDs, maxMentions, userID, "an id of a user, such as ou_…")
	})
	return &Channel{c}, wrong
}

type message struct {
	Timestamp string `json:"timestamp,omitempty"`
	Sign      string `json:"sign,omitempty"`
	Type      string `json:"msg_type"`
	Card      card   `json:"card"`
}

type card struct {
	Config   cardConfig `json:"config"`
	Header   header     `json:"header"`
	Elements []element  `json:"elements"`
}

type cardConfig struct {
	Wide bool `json:"wide_screen_mode"`
}

type header struct {
	Title    element `json:"title"`
	Template string  `json:"template"`
}

type element struct {
	Tag     string `json:"tag"`
	Content string `json:"content"`
}

// Send sends a message as a card.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	title := markup.Cut(markup.Feishu.Title(m.Content), maxTitle, markup.Runes)
	at := c.mentions(m)
	now, sign := c.sign()
	write := func(text string) any {
		return message{
			Timestamp: now, Sign: sign, Type: "interactive",
			Card: card{
				Config:   cardConfig{Wide: true},
				Header:   header{Title: element{Tag: "plain_text", Content: title}, Template: colour(m)},
				Elements: []element{{Tag: "markdown", Content: text + at}},
			},
		}
	}
	text, listed := markup.Form{
		Text: markup.Feishu.Body, Fits: post.Within(maxBody, write), Spell: markup.Feishu.Escape,
	}.Fill(m)
	return c.Deliver(ctx, post.Letter{
		URL: string(c.Config.Webhook), Message: write(text), Listed: listed, Result: resultOf,
	})
}

func colour(m alert.Message) string {
	switch {
	case !m.Firing:
		return "green"
	case m.Level == "CRITICAL":
		return "red"
	case m.Level == "WARNING":
		return "orange"
	default:
		return "blue"
	}
}

func (c *Channel) mentions(m alert.Message) string {
	ids := append(slices.Clone(c.Config.AtUserIDs), markup.Called(m, userID, maxMentions)...)
	if c.Config.AtAll {
		ids = append(ids, "all")
	}
	var marks []string
	for _, id := range ids {
		marks = append(marks, "<at id="+id+"></at>")
	}
	return markup.Below("\n", marks, "")
}

// sign returns the time of the call in seconds, and its signature: the key is time and secret, and
// what is signed is empty.
func (c *Channel) sign() (now, sign string) {
	if c.Config.Secret == "" {
		return "", ""
	}
	now = strconv.FormatInt(c.Client.Clock.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(now+"\n"+string(c.Config.Secret)))
	return now, base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
