package alerting

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// maxSettings bounds what one look reads of what people have defined.
	maxSettings = 5000
	// maxUses is how many uses an answer names.
	maxUses = 20
)

// Unused is nil where nothing names a setting. Else it is apperror.KindConflict that names
// those who do.
func Unused(ctx context.Context, settings repository.AlertSettings, of alert.Kind, id string) error {
	naming := map[alert.Kind][]alert.Kind{
		alert.KindChannel:  {alert.KindRule, alert.KindRoute, alert.KindTeam},
		alert.KindTemplate: {alert.KindRoute},
		alert.KindTeam:     {alert.KindOnCall},
		alert.KindOnCall:   {alert.KindRoute},
	}[of]
	if len(naming) == 0 {
		return nil
	}
	all, err := settings.AlertSettings(ctx, naming, maxSettings)
	if err != nil {
		return fmt.Errorf("find who names the %s: %w", of.Noun(), err)
	}
	var uses []apperror.Field
	for _, s := range all {
		names, err := namesOf(s)
		if err != nil {
			return err
		}
		if slices.Contains(names[of], id) {
			uses = append(uses, apperror.Field{
				Field: "id", Code: "used", Message: fmt.Sprintf("the %s %q (%s)", s.Kind.Noun(), s.Name, s.ID),
			})
		}
	}
	if len(uses) == 0 {
		return nil
	}
	used := apperror.New(apperror.KindConflict, "in_use",
		fmt.Sprintf("others name the %s (%d of them): take it out of these first", of.Noun(), len(uses)))
	used.Fields = uses[:min(len(uses), maxUses)]
	// One field has one fault: number the uses.
	for i := range used.Fields {
		used.Fields[i].Field = fmt.Sprintf("usedBy[%d]", i)
	}
	return used
}

// namesOf are the ids that a setting names, by their kinds.
func namesOf(s alert.Setting) (map[alert.Kind][]string, error) {
	switch s.Kind {
	case alert.KindRule:
		r, err := alert.Read[alert.Rule](s)
		if err != nil {
			return nil, err
		}
		return map[alert.Kind][]string{alert.KindChannel: r.ChannelIDs}, nil
	case alert.KindRoute:
		r, err := alert.Read[alert.Route](s)
		if err != nil {
			return nil, err
		}
		return map[alert.Kind][]string{
			alert.KindChannel: slices.Concat(r.ChannelIDs, r.EscalateTo), alert.KindOnCall: {r.OnCallID},
			alert.KindTemplate: {r.TemplateID},
		}, nil
	case alert.KindTeam:
		team, err := alert.Read[alert.Team](s)
		if err != nil {
			return nil, err
		}
		return map[alert.Kind][]string{alert.KindChannel: team.ChannelIDs}, nil
	case alert.KindOnCall:
		plan, err := alert.Read[alert.OnCall](s)
		if err != nil {
			return nil, err
		}
		teams := make([]string, len(plan.Shifts))
		for i, shift := range plan.Shifts {
			teams[i] = shift.TeamID
		}
		return map[alert.Kind][]string{alert.KindTeam: teams}, nil
	}
	return nil, nil
}
