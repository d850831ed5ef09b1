package alerting

import (
	"context"

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
	clock    clock.Clock
}

// NewPreviews wires the parts.
func NewPreviews(r Renderer, c clock.Clock) *Previews { return &Previews{r, c} }

// Preview fills a template with a sample alert. A template that is wrong is an
// apperror.KindInvalid with all that is wrong with it.
func (p *Previews) Preview(ctx context.Context, t *alert.Template, of alert.ChannelType, language string) (
	alert.Content, error,
) {
	if wrong := CheckTemplate(ctx, p.renderer, t); len(wrong) > 0 {
		return alert.Content{}, apperror.Invalid(wrong)
	}
	return p.renderer.Render(ctx, of, language, t.Content(language), p.renderer.Sample(p.clock))
}
