package alerting

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// maxUses is how many uses an answer names.
const maxUses = 20

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
	all, err := settings.AlertSettings(ctx, naming, bounds.Settings)
	if err != nil {
		return fmt.Errorf("find who names the %s: %w", of.Noun(), err)
	}
	var uses []apperror.Field
	for _, s := range all {
		v, err := alert.ReadAny(s)
		names := func(r alert.Reference) bool { return r.To == of && *r.ID == id }
		// One that cannot be read may name it.
		if err != nil || slices.ContainsFunc(v.References(), names) {
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
