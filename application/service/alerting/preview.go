package alerting

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/application/service/internal/admit"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Renderer makes texts of messages.
type Renderer interface {
	TemplateChecker
	// Render fills a template in a language for a type of channel.
	Render(ctx context.Context, t alert.ChannelType, language string, template alert.Content, m alert.Message) (
		alert.Content, error)
	// Sample is a message as a preview shows it.
	Sample(c clock.Clock) alert.Message
}

// Previews shows what templates make. Safe for concurrent use.
type Previews struct {
	renderer Renderer
	types    []alert.ChannelType
	clock    clock.Clock
	gate     *admit.Gate
}

// NewPreviews wires the parts, for some types of channels. Refused is told of each call that is refused; nil is nobody.
func NewPreviews(r Renderer, types []alert.ChannelType, c clock.Clock, refused func()) *Previews {
	return &Previews{r, types, c, admit.New(admit.Bounds{
		What: "previews", Code: "busy", User: userPreviews, Node: nodePreviews, Refused: refused,
	})}
}

// userPreviews and nodePreviews are how many previews a user, and a node, makes at once.
const (
	userPreviews = 1
	nodePreviews = 2
)

// Types lists the types of channels that there are.
func (p *Previews) Types() []alert.ChannelType { return p.types }

// Preview fills a template with a sample alert. A template that is wrong is an
// apperror.KindInvalid with all that is wrong with it. It is apperror.KindTooMany while the user,
// or the node, makes too many others.
func (p *Previews) Preview(ctx context.Context, userID string, t *alert.Template, of alert.ChannelType,
	language string,
) (alert.Content, error) {
	leave, err := p.gate.Enter(userID)
	if err != nil {
		return alert.Content{}, err
	}
	defer leave()
	if wrong := CheckTemplate(ctx, p.renderer, t); len(wrong) > 0 {
		return alert.Content{}, apperror.Invalid(wrong)
	}
	return p.renderer.Render(ctx, of, language, t.Content(language), p.renderer.Sample(p.clock))
}
