package alerting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
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

// NewRuleService manages rules. Rules of the first start can be edited and switched off,
// not deleted.
func NewRuleService(d Deps) *RuleService {
	return &RuleService{d, kind[*alert.Rule]{
		of: alert.KindRule, most: bounds.MostRules, reaches: ruleReaches,
		keep: func(former, next *alert.Rule, _ time.Time) {
			next.Default = ""
			if former != nil {
				next.Default = former.Default
			}
			if next.Notify == "" {
				next.Notify = alert.NotifyFirst
			}
		},
		check: d.checkRule, show: d.showSuspensions,
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
	unknown, err := d.unknown(ctx, next)
	if err != nil {
		return nil, err
	}
	large, err := d.patternsOfGroup(ctx, former, next)
	return slices.Concat(wrong, ofJobs, unknown, large), err
}

// unknownJobs lists the ids of no job that the rule could see. An object that a rule named
// before may have been deleted since.
func (d Deps) unknownJobs(ctx context.Context, group string, known, ids []string) (wrong []apperror.Field, err error) {
	if len(ids) > bounds.ScopeJobs {
		return nil, nil // the list is refused as a whole
	}
	found, err := d.Alerts.AlertJobs(ctx, ids)
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

// unknown lists the ids of no setting that a definition may use: of the kind that the place names, and of its group
// or of all groups. A definition for all groups may use any.
func (d Deps) unknown(ctx context.Context, v alert.Headed) (wrong []apperror.Field, err error) {
	codes := map[alert.Kind]string{
		alert.KindChannel: "channel", alert.KindTeam: "team", alert.KindOnCall: "on_call", alert.KindTemplate: "template",
	}
	var kinds []alert.Kind
	for _, r := range v.References() {
		if codes[r.To] != "" {
			kinds = append(kinds, r.To)
		}
	}
	if len(kinds) == 0 {
		return nil, nil
	}
	slices.Sort(kinds)
	found, err := d.Settings.AlertSettings(ctx, slices.Compact(kinds), bounds.Settings)
	if err != nil {
		return nil, fmt.Errorf("look up what the definition names: %w", err)
	}
	type place struct {
		alert.Kind
		id string
	}
	group, usable := alert.HeadOf(v).Group, map[place]bool{}
	for _, s := range found {
		usable[place{s.Kind, s.ID}] = group == "" || s.Group == "" || s.Group == group
	}
	for _, r := range v.References() {
		if codes[r.To] != "" && !usable[place{r.To, *r.ID}] {
			wrong = append(wrong, apperror.Field{
				Field: r.Field, Code: "unknown_" + codes[r.To],
				Message: fmt.Sprintf("is the id of no %s that this group may use: those of the group, and those for all groups",
					r.To.Noun()),
			})
		}
	}
	return wrong, nil
}

// NewRouteService manages routes.
func NewRouteService(d Deps) *RouteService {
	return &RouteService{d, kind[*alert.Route]{
		of: alert.KindRoute, most: bounds.MostRoutes, reaches: routeReaches,
		check: func(ctx context.Context, _, next *alert.Route, _ time.Time) ([]apperror.Field, error) {
			unknown, err := d.unknown(ctx, next)
			return append(rules.ValidateRoute(next), unknown...), err
		},
	}}
}

// NewTeamService manages teams.
func NewTeamService(d Deps) *TeamService {
	return &TeamService{d, kind[*alert.Team]{
		of: alert.KindTeam, most: bounds.MostTeams, reaches: d.teamReaches,
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
				user, fault, err := d.user(ctx, fmt.Sprintf("members[%d]", i), id)
				if err != nil {
					return nil, err
				}
				next.Members[i], wrong = user, append(wrong, fault...)
			}
			unknown, err := d.unknown(ctx, next)
			return append(wrong, unknown...), err
		},
	}}
}

// user is the id of the user that a field names by id or by name. Names may change, so that the id is stored.
func (d Deps) user(ctx context.Context, field, given string) (id string, wrong []apperror.Field, err error) {
	found, err := d.Users.UserByID(ctx, given)
	if apperror.Is(err, apperror.KindNotFound) {
		found, err = d.Users.UserByName(ctx, given)
	}
	if apperror.Is(err, apperror.KindNotFound) {
		return given, []apperror.Field{{
			Field: field, Code: "unknown_user", Message: "is neither the id nor the name of a user; " +
				"platform-scheduler user list shows them",
		}}, nil
	}
	return found.ID, nil, err
}

// NewContactService manages contacts of users.
func NewContactService(d Deps) *ContactService {
	return &ContactService{d, kind[*alert.Contact]{
		of: alert.KindContact, most: bounds.MostContacts,
		check: func(ctx context.Context, former, next *alert.Contact, _ time.Time) ([]apperror.Field, error) {
			wrong := rules.ValidateContact(next)
			if next.UserID == "" || former != nil && former.UserID == next.UserID {
				return wrong, nil
			}
			id, unknown, err := d.user(ctx, "userId", next.UserID)
			next.UserID = id
			return append(wrong, unknown...), err
		},
	}}
}

// NewOnCallService manages on-call plans.
func NewOnCallService(d Deps) *OnCallService {
	return &OnCallService{d, kind[*alert.OnCall]{
		of: alert.KindOnCall, most: bounds.MostOnCalls, reaches: d.planReaches,
		check: func(ctx context.Context, _, next *alert.OnCall, _ time.Time) ([]apperror.Field, error) {
			unknown, err := d.unknown(ctx, next)
			return append(rules.ValidateOnCall(next), unknown...), err
		},
	}}
}
