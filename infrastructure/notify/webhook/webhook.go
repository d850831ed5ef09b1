// Package webhook posts messages to programs, signed by the rules of Standard Webhooks.
package webhook

import (
	"context"
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
)

const (
	maxSecrets = 3
	// minSecret and maxSecret bound a key, in bytes. Standard Webhooks asks for 24 to 64; shorter ones
	// of other systems are taken.
	minSecret  = 16
	maxSecret  = 128
	maxHeaders = 20
	maxHeader  = 4096
	// keyPrefix marks keys in base64.
	keyPrefix = "whsec_"
)

// Config is the configuration of a channel.
type Config struct {
	URL string `json:"url"`
	// Secret signs the messages; "" signs nothing.
	Secret channelconfig.Secret `json:"secret"`
	// Secrets sign, too: while a receiver changes its key, it takes the old or the new one.
	Secrets []channelconfig.Secret `json:"secrets"`
	// Headers are sent with each message. Their values are secret.
	Headers map[string]channelconfig.Secret `json:"headers"`
}

// Target names the fields that say where secrets are sent.
func Target() []string { return []string{"url"} }

// Channel is one receiver. Safe for concurrent use.
type Channel struct {
	config Config
	keys   [][]byte
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
	p.URL("url", c.config.URL, client.Guard)
	if c.config.Secret != "" {
		c.addKey(p, "secret", string(c.config.Secret))
	}
	if len(c.config.Secrets) > maxSecrets {
		p.Add("secrets", validation.CodeTooMany, "has more than %d entries", maxSecrets)
	}
	for _, s := range c.config.Secrets[:min(len(c.config.Secrets), maxSecrets)] {
		c.addKey(p, "secrets", string(s))
	}
	checkHeaders(p, c.config.Headers)
	c.mask = channelconfig.MaskOf(&c.config).With(channelconfig.KeysOf(c.config.URL)...)
	return c, p.Fields()
}

// addKey reads a key: base64 behind whsec_, else the bytes of the text.
func (c *Channel) addKey(p *channelconfig.Problems, name, text string) {
	key := []byte(text)
	if encoded, ok := strings.CutPrefix(text, keyPrefix); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			p.Add(name, validation.CodeInvalid, "must be base64 behind %s", keyPrefix)
			return
		}
	}
	if len(key) < minSecret || len(key) > maxSecret {
		p.Add(name, validation.CodeOutOfRange, "must have %d to %d bytes", minSecret, maxSecret)
		return
	}
	c.keys = append(c.keys, key)
}

var headerName = regexp.MustCompile("^[0-9A-Za-z!#$%&'*+.^_`|~-]{1,100}$")

// reserved are headers that the call itself sets.
func reserved(name string) bool {
	return slices.Contains([]string{
		"Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Connection", "Te", "Trailer",
		"Upgrade", "Expect", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "User-Agent", headerID,
		headerTimestamp, headerSignature,
	}, http.CanonicalHeaderKey(name))
}

func checkHeaders(p *channelconfig.Problems, headers map[string]channelconfig.Secret) {
	if len(headers) > maxHeaders {
		p.Add("headers", validation.CodeTooMany, "has more than %d entries", maxHeaders)
	}
	seen := map[string]bool{}
	for name, value := range headers {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !headerName.MatchString(name):
			p.Add("headers", validation.CodeInvalid, "a name of a header has letters, digits and signs such as '-' only")
			continue
		case reserved(name):
			p.Add("headers."+name, validation.CodeConflict, "remove it, the server sets this header")
		case seen[canonical]:
			p.Add("headers."+name, validation.CodeConflict, "the same header is given twice")
		}
		seen[canonical] = true
		p.Length("headers."+name, string(value), maxHeader)
	}
}

// Send posts a message. The status alone says whether the receiver took it.
func (c *Channel) Send(ctx context.Context, m alert.Message) alert.SendResult {
	body, err := encode(m)
	if err != nil {
		return post.Refused(c.mask, "message", err.Error())
	}
	header := http.Header{}
	for name, value := range c.config.Headers {
		header.Set(name, string(value))
	}
	sign(header, c.keys, m.ID, c.client.Clock.Now(), body)
	answer, result, ok := c.client.Post(ctx, post.Request{URL: c.config.URL, Header: header, Body: body, Mask: c.mask})
	if !ok {
		return result
	}
	return answer.Result()
}
