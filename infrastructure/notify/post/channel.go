package post

import (
	"context"
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
)

// Channel is what all channels over HTTP have. Safe for concurrent use.
type Channel[C any] struct {
	Config C
	Mask   channelconfig.Mask
	Client *Client
}

// Open reads a configuration, whose absent fields are those of defaults. It returns all that is wrong with
// it, of which check adds what its fields do not tell.
func Open[C any](text alert.ChannelConfig, client *Client, defaults C,
	check func(c *C, p *channelconfig.Problems),
) (Channel[C], []apperror.Field) {
	c := Channel[C]{Config: defaults, Client: client}
	if wrong := channelconfig.Decode(text, &c.Config); wrong != nil {
		return c, wrong
	}
	p := &channelconfig.Problems{}
	check(&c.Config, p)
	c.Mask = channelconfig.MaskOf(&c.Config)
	return c, p.Fields()
}

// Letter is a message on its way.
type Letter struct {
	URL    string
	Header http.Header
	// Message is sent as JSON; Listed are the ids of the alerts that it names.
	Message any
	Listed  []string
	// Result says what an answer means.
	Result func(a Answer) alert.SendResult
}

// Deliver sends a letter. A message that is no JSON is refused: no receiver would take it later either.
func (c *Channel[C]) Deliver(ctx context.Context, l Letter) alert.SendResult {
	body, err := JSON(l.Message)
	if err != nil {
		return Refused(c.Mask, "message", err.Error())
	}
	answer, result, ok := c.Client.Post(ctx, Request{URL: l.URL, Header: l.Header, Body: body, Mask: c.Mask})
	if ok {
		result = l.Result(answer)
	}
	result.Listed = l.Listed
	return result
}
