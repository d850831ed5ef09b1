package alerting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// How many of each kind there may be. The evaluator reads them all, each turn.
const (
	maxRules    = 1000
	maxSilences = 1000
	maxRoutes   = 500
	maxTeams    = 500
	maxContacts = 1000
	maxOnCall   = 200
	// maxScopeJobs is how many jobs one rule may name.
	maxScopeJobs = 500
)

// The services of the kinds.
type (
	// RuleService manages rules.
	RuleService = Settings[alert.Rule, *alert.Rule]
	// SilenceService manages silences.
	SilenceService = Settings[alert.Silence, *alert.Silence]
	// RouteService manages routes.
	RouteService = Settings[alert.Route, *alert.Route]
	// TeamService manages teams.
	TeamService = Settings[alert.Team, *alert.Team]
	// ContactService manages contacts of users.
	ContactService = Settings[alert.Contact, *alert.Contact]
	// OnCallService manages on-call plans.
	OnCallService = Settings[alert.OnCall, *alert.OnCall]
)

// NewRuleService manages rules. Those of the first start can be edited and switched off,
// not deleted.
func NewRuleService(d Deps) *RuleService {
	return &RuleService{d, kind[*alert.Rule]{
		of: alert.KindRule, most: maxRules,
		keep: func(former, next *alert.Rule, _ time.Time) {
			next.Default = ""
			if former != nil {
				next.Default = former.Default
			}
			if next.Notify == "" {
				next.Notify = alert.NotifyFirst
			}
		},
		check: d.checkRule,
		lasts: func(r *alert.Rule) error {
			if r.Default == "" {
				return nil
			}
			return apperror.Conflict("default_rule",
				"the next start would add this rule of the first start again: switch it off with \"enabled\": false")
		},
	}}
}

// checkRule lists what is wrong with a rule.
func (d Deps) checkRule(ctx context.Context, former, next *alert.Rule, _ time.Time) ([]apperror.Field, error) {
	wrong := rules.ValidateRule(next, d.Expressions)
	if former != nil && former.Type != next.Type {
		wrong = append(wrong, apperror.Field{
			Field: "type", Code: "unchangeable",
			Message: fmt.Sprintf("is %s for good, as alerts of that type name the rule: make another rule", former.Type),
		})
	}
	known := []string{}
	if former != nil {
		known = former.Scope.JobIDs
	}
	ofJobs, err := d.unknownJobs(ctx, next.Group, known, next.Scope.JobIDs)
	if err != nil {
		return nil, err
	}
	names := []names{{alert.KindChannel, "channelIds", next.ChannelIDs}}
	unknown, err := d.unknown(ctx, next.Group, names)
	return slices.Concat(wrong, ofJobs, unknown), err
}

// unknownJobs lists the ids of no job that the rule could see. What a rule named before
// may have been deleted since.
func (d Deps) unknownJobs(ctx context.Context, group string, known, ids []string) (wrong []apperror.Field, err error) {
	if len(ids) > maxScopeJobs {
		return nil, nil // the list is refused as a whole
	}
	found, err := d.Jobs.AlertJobs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up the jobs of the rule: %w", err)
	}
	for i, id := range ids {
		job, exists := found[id]
		if slices.Contains(known, id) || exists && !job.Deleted && (group == "" || group == job.Group) {
			continue
		}
		where := ""
		if group != "" {
			where = " of the group " + group
		}
		wrong = append(wrong, apperror.Field{
			Field: fmt.Sprintf("scope.jobIds[%d]", i), Code: "unknown_job", Message: "is the id of no job" + where,
		})
	}
	return wrong, nil
}

// names are ids in a field, all of one kind.
type names struct {
	of    alert.Kind
	field string
	ids   []string
}

// unknown lists the ids of nothing that a definition of the group may use: of the kind, and
// of its group or of all groups. A definition for all groups may use any.
func (d Deps) unknown(ctx context.Context, group string, all []names) (wrong []apperror.Field, err error) {
	var kinds []alert.Kind
	for _, n := range all {
		if len(n.ids) > 0 {
			kinds = append(kinds, n.of)
		}
	}
	if len(kinds) == 0 {
		return nil, nil
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	found, err := d.Settings.AlertSettings(ctx, kinds, maxSettings)
	if err != nil {
		return nil, fmt.Errorf("look up what the definition names: %w", err)
	}
	usable := map[alert.Kind]map[string]bool{}
	for _, s := range found {
		if usable[s.Kind] == nil {
			usable[s.Kind] = map[string]bool{}
		}
		usable[s.Kind][s.ID] = group == "" || s.Group == "" || s.Group == group
	}
	for _, n := range all {
		for i, id := range n.ids {
			if usable[n.of][id] {
				continue
			}
			field := n.field
			if len(n.ids) > 1 || slices.Contains([]string{"channelIds", "escalateTo"}, n.field) {
				field = fmt.Sprintf("%s[%d]", n.field, i)
			}
			wrong = append(wrong, apperror.Field{
				Field: field, Code: "unknown_" + map[alert.Kind]string{
					alert.KindChannel: "channel", alert.KindTeam: "team", alert.KindOnCall: "on_call", alert.KindTemplate: "template",
				}[n.of],
				Message: fmt.Sprintf("is the id of no %s that this group may use: those of the group, and those for all groups",
					n.of.Noun()),
			})
		}
	}
	return wrong, nil
}

// one is a list of an id, or none.
func one(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id}
}

// NewSilenceService manages silences. One without a begin begins at once, and one without
// a name gets one. Silences that are over go when there is no room for others.
func NewSilenceService(d Deps) *SilenceService {
	return &SilenceService{d, kind[*alert.Silence]{
		of: alert.KindSilence, most: maxSilences,
		keep: func(former, next *alert.Silence, now time.Time) {
			if former != nil {
				next.By = former.By
			}
			switch {
			case !next.From.IsZero():
			case former != nil:
				next.From = former.From
			default:
				next.From = now
			}
			if next.Name == "" {
				next.Name = "silence " + next.ID
			}
		},
		check: func(_ context.Context, _, next *alert.Silence, now time.Time) ([]apperror.Field, error) {
			return rules.ValidateSilence(next, now), nil
		},
		room: d.dropOldSilences,
	}}
}

// dropOldSilences deletes the silences that are over.
func (d Deps) dropOldSilences(ctx context.Context) error {
	all, err := d.Settings.AlertSettings(ctx, []alert.Kind{alert.KindSilence}, maxSettings)
	if err != nil {
		return err
	}
	now := d.Clock.Now()
	for _, s := range all {
		v, err := alert.Read[alert.Silence](s)
		if err != nil || v.To.After(now) {
			continue // one that cannot be read may hold
		}
		err = d.Settings.DropAlertSetting(ctx, alert.KindSilence, s.ID, s.Version)
		if err != nil && !apperror.Is(err, apperror.KindConflict) && !apperror.Is(err, apperror.KindNotFound) {
			return err
		}
	}
	return nil
}

// NewRouteService manages routes.
func NewRouteService(d Deps) *RouteService {
	return &RouteService{d, kind[*alert.Route]{
		of: alert.KindRoute, most: maxRoutes,
		check: func(ctx context.Context, _, next *alert.Route, _ time.Time) ([]apperror.Field, error) {
			unknown, err := d.unknown(ctx, next.Group, []names{
				{alert.KindChannel, "channelIds", next.ChannelIDs},
				{alert.KindChannel, "escalateTo", next.EscalateTo},
				{alert.KindOnCall, "onCallId", one(next.OnCallID)},
				{alert.KindTemplate, "templateId", one(next.TemplateID)},
			})
			return append(rules.ValidateRoute(next), unknown...), err
		},
	}}
}

// NewTeamService manages teams.
func NewTeamService(d Deps) *TeamService {
	return &TeamService{d, kind[*alert.Team]{
		of: alert.KindTeam, most: maxTeams,
		check: func(ctx context.Context, former, next *alert.Team, _ time.Time) ([]apperror.Field, error) {
			wrong := rules.ValidateTeam(next)
			if len(wrong) > 0 {
				return wrong, nil
			}
			known := []string{}
			if former != nil {
				known = former.Members
			}
			for i, id := range next.Members {
				if slices.Contains(known, id) {
					continue // the user may have been deleted since
				}
				fault, err := d.unknownUser(ctx, fmt.Sprintf("members[%d]", i), id)
				if err != nil {
					return nil, err
				}
				wrong = append(wrong, fault...)
			}
			unknown, err := d.unknown(ctx, next.Group, []names{{alert.KindChannel, "channelIds", next.ChannelIDs}})
			return append(wrong, unknown...), err
		},
	}}
}

func (d Deps) unknownUser(ctx context.Context, field, id string) ([]apperror.Field, error) {
	_, err := d.Users.UserByID(ctx, id)
	if apperror.Is(err, apperror.KindNotFound) {
		return []apperror.Field{{Field: field, Code: "unknown_user", Message: "is the id of no user"}}, nil
	}
	return nil, err
}

// NewContactService manages contacts of users.
func NewContactService(d Deps) *ContactService {
	return &ContactService{d, kind[*alert.Contact]{
		of: alert.KindContact, most: maxContacts,
		check: func(ctx context.Context, former, next *alert.Contact, _ time.Time) ([]apperror.Field, error) {
			wrong := rules.ValidateContact(next)
			if next.UserID == "" || former != nil && former.UserID == next.UserID {
				return wrong, nil
			}
			unknown, err := d.unknownUser(ctx, "userId", next.UserID)
			return append(wrong, unknown...), err
		},
	}}
}

// NewOnCallService manages on-call plans.
func NewOnCallService(d Deps) *OnCallService {
	return &OnCallService{d, kind[*alert.OnCall]{
		of: alert.KindOnCall, most: maxOnCall,
		check: func(ctx context.Context, _, next *alert.OnCall, _ time.Time) ([]apperror.Field, error) {
			teams := make([]names, len(next.Shifts))
			for i, shift := range next.Shifts {
				teams[i] = names{alert.KindTeam, fmt.Sprintf("shifts[%d].teamId", i), one(shift.TeamID)}
			}
			unknown, err := d.unknown(ctx, next.Group, teams)
			return append(rules.ValidateOnCall(next), unknown...), err
		},
	}}
}
