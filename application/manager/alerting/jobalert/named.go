// Package jobalert checks the channels that jobs name.
package jobalert

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Unknown is the code of a channel that is not there.
const Unknown = "unknown_channel"

// Channels are the groups of the channels that there are, by name; empty is all groups.
type Channels map[string]string

// Known reads the channels if one of the jobs names any; else it costs nothing.
func Known(ctx context.Context, settings repository.AlertSettings, jobs ...*entity.Job) (Channels, error) {
	named := false
	for _, job := range jobs {
		for _, list := range job.Alerts.Lists() {
			named = named || len(list.Channels) > 0
		}
	}
	if !named || settings == nil {
		return nil, nil
	}
	found, err := settings.AlertSettings(ctx, []alert.Kind{alert.KindChannel}, bounds.Settings)
	if err != nil {
		return nil, fmt.Errorf("look up the channels that definitions name: %w", err)
	}
	known := make(Channels, len(found))
	for _, s := range found {
		known[s.Name] = s.Group
	}
	return known, nil
}

// NotAllowed says which channels a job names that do not exist, or are of another group.
// Without known channels nothing is said.
func (known Channels) NotAllowed(job *entity.Job) (wrong []apperror.Field) {
	if known == nil {
		return nil
	}
	for _, list := range job.Alerts.Lists() {
		for i, name := range list.Channels {
			group, exists := known[name]
			f := apperror.Field{Field: fmt.Sprintf("alerts.%s[%d]", list.Field, i)}
			switch shown := validation.Text(name, validation.MaxName); {
			case !exists:
				f.Code = Unknown
				f.Message = fmt.Sprintf("there is no channel %q; make it first, or name another one", shown)
			case group != "" && group != job.Group:
				f.Code = "channel_not_allowed"
				f.Message = fmt.Sprintf("the channel %q is not for jobs of the group %s; name one of that group, or one of "+
					"all groups", shown, job.Group)
			default:
				continue
			}
			wrong = append(wrong, f)
		}
	}
	return wrong
}
