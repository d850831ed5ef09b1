package alerting

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Services are those of all kinds of settings.
type Services struct {
	Rules     *RuleService
	Channels  *ChannelService
	Silences  *SilenceService
	Routes    *RouteService
	Templates *TemplateService
	Teams     *TeamService
	Contacts  *ContactService
	OnCall    *OnCallService

	deps    Deps
	configs ChannelConfigs
	seals   Seals
	checker TemplateChecker
}

// NewServices makes them.
func NewServices(d Deps, configs ChannelConfigs, seals Seals, checker TemplateChecker) Services {
	return Services{
		Rules: NewRuleService(d), Channels: NewChannelService(d, configs, seals), Silences: NewSilenceService(d),
		Routes: NewRouteService(d), Templates: NewTemplateService(d, checker), Teams: NewTeamService(d),
		Contacts: NewContactService(d), OnCall: NewOnCallService(d),
		deps: d, configs: configs, seals: seals, checker: checker,
	}
}

// Store is what the services read of settings.
func (s Services) Store() repository.AlertSettings { return s.deps.Settings }

// Users finds the users that settings name.
func (s Services) Users() repository.Users { return s.deps.Users }

// Now is the store's time.
func (s Services) Now() time.Time { return s.deps.Clock.Now() }

// JobLookup finds the jobs that rules name.
type JobLookup interface {
	AlertJobs(ctx context.Context, ids []string) (map[string]repository.AlertJob, error)
}

// Jobs finds the jobs that rules name.
func (s Services) Jobs() JobLookup { return s.deps.Alerts }

// jobsOver answers for planned jobs, too.
type jobsOver struct {
	repository.Alerts
	jobs JobLookup
}

func (j jobsOver) AlertJobs(ctx context.Context, ids []string) (map[string]repository.AlertJob, error) {
	return j.jobs.AlertJobs(ctx, ids)
}

// Over are services that check settings against another view of the store: what a document will make is there
// already. They store nothing.
func (s Services) Over(settings repository.AlertSettings, jobs JobLookup) Services {
	d := s.deps
	d.Settings, d.Alerts = settings, jobsOver{d.Alerts, jobs}
	return NewServices(d, s.configs, s.seals, s.checker)
}

// Any is the service of one kind, for callers that know the kind alone. Each method takes the type of the kind.
type Any interface {
	// Check is Settings.Check; former is nil for a new one.
	Check(ctx context.Context, former, next alert.Headed) error
	Create(ctx context.Context, v alert.Headed) error
	Replace(ctx context.Context, former, next alert.Headed) error
	Delete(ctx context.Context, v alert.Headed) error
	// Document is the stored form.
	Document(v alert.Headed) (string, error)
}

// Of is the service of a kind; nil for none.
func (s Services) Of(kind alert.Kind) Any {
	return map[alert.Kind]Any{
		alert.KindRule: of(s.Rules), alert.KindChannel: of(s.Channels), alert.KindSilence: of(s.Silences),
		alert.KindRoute: of(s.Routes), alert.KindTemplate: of(s.Templates), alert.KindTeam: of(s.Teams),
		alert.KindContact: of(s.Contacts), alert.KindOnCall: of(s.OnCall),
	}[kind]
}

func of[T any, P alert.Defined[T]](s *Settings[T, P]) Any { return anyOf[T, P]{s} }

// anyOf implements Any.
type anyOf[T any, P alert.Defined[T]] struct{ of *Settings[T, P] }

// typed is nil where there is no former one.
func typed[P any](v alert.Headed) (p P) {
	p, _ = v.(P)
	return p
}

// Check implements Any.
func (a anyOf[T, P]) Check(ctx context.Context, former, next alert.Headed) error {
	return a.of.Check(ctx, typed[P](former), typed[P](next))
}

// Create implements Any.
func (a anyOf[T, P]) Create(ctx context.Context, v alert.Headed) error {
	_, err := a.of.Create(ctx, typed[P](v))
	return err
}

// Replace implements Any.
func (a anyOf[T, P]) Replace(ctx context.Context, former, next alert.Headed) error {
	_, err := a.of.Replace(ctx, typed[P](former), typed[P](next), alert.HeadOf(former).Version)
	return err
}

// Delete implements Any.
func (a anyOf[T, P]) Delete(ctx context.Context, v alert.Headed) error {
	return a.of.Delete(ctx, typed[P](v))
}

// Document implements Any.
func (a anyOf[T, P]) Document(v alert.Headed) (string, error) {
	s, err := alert.SettingOf[T, P](a.of.kind.of, typed[P](v))
	return s.Document, err
}
