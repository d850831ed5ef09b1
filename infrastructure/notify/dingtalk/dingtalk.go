// Package dingtalk sends messages through custom robots of DingTalk.
package dingtalk

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// maxBody is DingTalk's bound of a message, in bytes.
	maxBody     = 20_000
	maxTitle    = 200
	maxMentions = 50
	// blockedFor is how long DingTalk blocks a robot that sent more than 20 messages a minute.
	blockedFor = 10 * time.Minute
)

// Type is that of these channels.
const Type alert.ChannelType = "DINGTALK"

// Config is the configuration of a channel.
type Config struct {
	// Webhook is the address of the robot; it holds its access token.
	Webhook channelconfig.Secret `json:"webhook"`
	// Secret signs the calls; "" for robots that check words or addresses instead.
	Secret    channelconfig.Secret `json:"secret"`
	AtMobiles []string             `json:"atMobiles"`
	AtUserIDs []string             `json:"atUserIds"`
	AtAll     bool                 `json:"atAll"`
}

var (
	mobile = regexp.MustCompile(`^\+?[0-9-]{5,20}$`)
	userID = regexp.MustCompile(`^[0-9A-Za-z_.-]{1,64}$`)
)

// Channel is one robot. Safe for concurrent use.
type Channel struct {
	post.Channel[Config]
	url *url.URL
}

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	var webhook *url.URL
	c, wrong := post.Open(text, client, Config{}, func(c *Config, p *channelconfig.Problems) {
		webhook = p.URL("webhook", string(c.Webhook), client.Guard)
		p.Length("secret", string(c.Secret), 256)
		p.Each("atMobiles", c.AtMobiles, maxMentions, mobile, "a phone number")
		p.Each("atUserIds", c.AtUserIDs, maxMentions, userID, "an id of a user")
	})
	return &Channel{c, webhook}, wrong
}

type message struct {
	Type     string   `json:"msgtype"`
	Markdown markdown `json:"markdown"`
	At       mentions `json:"at"`
}

type markdown struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

type mentions struct {
	Mobiles []string `json:"atMobiles,omitempty"`
	UserIDs []string `json:"atUserIds,omitempty"`
	All     bool     `json:"isAtAll"`
}

// Send sends a message.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	title := markup.Cut(markup.FullWidth.Escape(m.Content.Title), maxTitle, markup.Bytes)
	mobiles := append(slices.Clone(c.Config.AtMobiles), markup.Called(m, mobile, maxMentions)...)
	var called []string // DingTalk wants them in the text, too
	for _, who := range slices.Concat(mobiles, c.Config.AtUserIDs) {
		called = append(called, "@"+who)
	}
	at := markup.Below("\n\n", called, " ")
	write := func(text string) any {
		return message{
			Type: "markdown", Markdown: markdown{Title: title, Text: text + at},
			At: mentions{Mobiles: mobiles, UserIDs: c.Config.AtUserIDs, All: c.Config.AtAll},
		}
	}
	text, listed := markup.Form{
		Text: markup.FullWidth.Body, Fits: post.Within(maxBody, write), Spell: markup.FullWidth.Escape,
	}.Fill(m)
	return c.Deliver(ctx, post.Letter{
		URL: c.address(), Message: write(text), Listed: listed, Result: post.ByCode("DingTalk", refusal),
	})
}

// address is that of the robot, signed with the time of the call.
func (c *Channel) address() string {
	if c.Config.Secret == "" {
		return c.url.String()
	}
	now := strconv.FormatInt(c.Client.Clock.Now().UnixMilli(), 10)
	sign := hmac.New(sha256.New, []byte(c.Config.Secret))
	_, _ = sign.Write([]byte(now + "\n" + string(c.Config.Secret)))
	signed := *c.url
	query := signed.Query()
	query.Set("timestamp", now)
	query.Set("sign", base64.StdEncoding.EncodeToString(sign.Sum(nil)))
	signed.RawQuery = query.Encode()
	return signed.String()
}

// refusal judges an answer with a number that is not 0.
func refusal(a post.Answer, number int64, code, text string) alert.SendResult {
	switch number {
	case 130101: // more than 20 messages in a minute
		return a.Failed(code, text, max(a.RetryAfter, blockedFor))
	case 410100: // too fast
		return a.Failed(code, text, max(a.RetryAfter, time.Minute))
	case 90030: // the quota of the robot is used up
		return a.Failed(code, text, max(a.RetryAfter, time.Hour))
	case 310000, // signature, words or addresses do not match
		300001, 300005, 400101, // unknown token
		400013, 400102, 400106, // the group or the robot is gone
		40035, 43004, 400105, // form of the message
		430101, 430102, 430103, 430104: // content that DingTalk forbids
		return a.Refused(code, text)
	default:
		return a.Failed(code, text, a.RetryAfter)
	}
}
