// Package telegram sends messages through a bot of Telegram.
package telegram

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	// maxText is Telegram's bound of a text, in units of UTF-16.
	maxText = 4096
	// maxRetryAfter bounds what Telegram may ask for.
	maxRetryAfter = 24 * time.Hour
	defaultAPI    = "https://api.telegram.org"
)

// Type is that of these channels.
const Type alert.ChannelType = "TELEGRAM"

// Config is the configuration of a channel.
type Config struct {
	// Token is that of the bot.
	Token channelconfig.Secret `json:"token"`
	// ChatID is the number of a chat, or the @name of a public channel.
	ChatID string `json:"chatId" required:"true"`
	// ThreadID is a topic of the chat; 0 is none.
	ThreadID int `json:"threadId"`
	// APIURL is the server of the Bot API; "" is that of Telegram.
	APIURL string `json:"apiUrl"`
}

var (
	token  = regexp.MustCompile(`^[0-9]{1,20}:[0-9A-Za-z_-]{10,100}$`)
	chatID = regexp.MustCompile(`^(-?[0-9]{1,20}|@[0-9A-Za-z_]{4,40})$`)
)

// Channel is one bot in one chat. Safe for concurrent use.
type Channel struct{ post.Channel[Config] }

// Open reads a configuration. It returns all that is wrong with it.
func Open(text alert.ChannelConfig, client *post.Client) (*Channel, []apperror.Field) {
	c, wrong := post.Open(text, client, Config{APIURL: defaultAPI}, func(c *Config, p *channelconfig.Problems) {
		switch {
		case c.Token == "":
			p.Add("token", validation.CodeRequired, "must be given")
		case !token.MatchString(string(c.Token)):
			p.Add("token", validation.CodeInvalid, "must be the token of a bot: digits, a colon, letters and digits")
		}
		if !chatID.MatchString(c.ChatID) {
			p.Add("chatId", validation.CodeInvalid, "must be the number of a chat, or the @name of a public channel")
		}
		if c.ThreadID < 0 {
			p.Add("threadId", validation.CodeOutOfRange, "must not be negative")
		}
		if u := p.URL("apiUrl", c.APIURL, client.Guard); u != nil && u.RawQuery != "" {
			p.Add("apiUrl", validation.CodeInvalid, "remove the ? and what follows it")
		}
	})
	return &Channel{c}, wrong
}

type message struct {
	ChatID    string  `json:"chat_id"`
	ThreadID  int     `json:"message_thread_id,omitempty"`
	Text      string  `json:"text"`
	ParseMode string  `json:"parse_mode,omitempty"`
	Preview   preview `json:"link_preview_options"`
}

type preview struct {
	Disabled bool `json:"is_disabled"`
}

// Send sends a message: as HTML where Telegram can read it as a whole, or else as plain text.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	out := message{ChatID: c.Config.ChatID, ThreadID: c.Config.ThreadID, Preview: preview{Disabled: true}}
	within := markup.Within(maxText, markup.UTF16)
	text, listed := markup.Form{
		Text: func(c alert.Content) string { return markup.Telegram.WithoutMentions(c.Markdown) },
		// One that was cut inside of a tag is not readable: then the plain text goes.
		Fits: within, Spell: markup.Telegram.Escape,
	}.Fill(m)
	if out.Text, out.ParseMode = text, "HTML"; text == "" || !readable(text) {
		out.ParseMode = ""
		out.Text, listed = markup.Form{Text: plain, Fits: within, Spell: markup.Telegram.WithoutMentions}.Fill(m)
	}
	address := strings.TrimSuffix(c.Config.APIURL, "/") + "/bot" + string(c.Config.Token) + "/sendMessage"
	return c.Deliver(ctx, post.Letter{URL: address, Message: out, Listed: listed, Result: resultOf})
}

// plain is the text without marks.
func plain(c alert.Content) string {
	if c.Text == "" {
		return markup.Telegram.WithoutMentions(c.Title)
	}
	return markup.Telegram.WithoutMentions(c.Text)
}

func resultOf(a post.Answer) alert.SendResult {
	var answer struct {
		OK          *bool  `json:"ok"`
		Code        int64  `json:"error_code"`
		Description string `json:"description"`
		Parameters  struct {
			RetryAfter uint32 `json:"retry_after"`
			Migrated   int64  `json:"migrate_to_chat_id"`
		} `json:"parameters"`
	}
	result := a.Result()
	switch {
	case !a.Read(&answer) || answer.OK == nil:
		return a.Foreign(result, "Telegram", "apiUrl")
	case *answer.OK:
		return result
	}
	if answer.Code == 0 {
		answer.Code = int64(a.Status)
	}
	code, text := fmt.Sprintf("errcode_%d", answer.Code), a.Describe(answer.Code, answer.Description)
	after := min(max(a.RetryAfter, time.Duration(answer.Parameters.RetryAfter)*time.Second), maxRetryAfter)
	switch {
	case answer.Parameters.Migrated != 0:
		return a.Refused(code, fmt.Sprintf("the chat moved: set chatId to %d", answer.Parameters.Migrated))
	case answer.Code == 429:
		return a.Failed(code, text, after)
	case answer.Code >= 400 && answer.Code < 500:
		return a.Refused(code, text)
	default:
		return a.Failed(code, text, after)
	}
}
