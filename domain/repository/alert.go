package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// AlertWriter is what a transaction does with alerts and notifications.
type AlertWriter interface {
	// AddDeadlines adds deadlines of fires. One that exists is left as it is.
	AddDeadlines(ctx context.Context, deadlines []entity.Deadline) error
	// TakeDeadline deletes a deadline, and MarkDeadline notes that it was told to be at risk, or
	// that its fire has ended. They are false where somebody else has.
	TakeDeadline(ctx context.Context, d entity.Deadline) (bool, error)
	MarkDeadline(ctx context.Context, d entity.Deadline) (bool, error)
	// LatestEpisodes returns the newest alert of each fingerprint that has one, in order of
	// the fingerprints.
	LatestEpisodes(ctx context.Context, fingerprints []string) ([]*alert.Alert, error)
	// AlertsByID returns the alerts that exist, in order of their ids.
	AlertsByID(ctx context.Context, ids []string) ([]*alert.Alert, error)
	// AddAlerts opens episodes. One whose id exists, or whose fingerprint is held by
	// another, is left out: added are the ids of the others, in their order.
	AddAlerts(ctx context.Context, alerts []*alert.Alert) (added []string, err error)
	// UpdateAlert writes an alert whose stored change is seq. It is false where the stored
	// one has changed meanwhile, or its fingerprint is held by another episode.
	UpdateAlert(ctx context.Context, a *alert.Alert, seq int64) (bool, error)
	// PlanAlert sets when an alert is to be planned again; zero is never. That is no change of
	// the alert: seq stays. It is false where the alert has changed since seq, or was planned
	// since it was due.
	PlanAlert(ctx context.Context, id string, seq int64, due, next time.Time) (bool, error)
	// PlannedAlerts returns those of the ids that PlanAlert has planned while they were open.
	PlannedAlerts(ctx context.Context, ids []string) ([]string, error)
	// PlannedMessages is what has been planned to tell of alerts.
	PlannedMessages(ctx context.Context, alertIDs []string) ([]PlannedMessage, error)
	// CountNotifications is how many a channel was given since a moment, without those that
	// were held back; at most limit.
	CountNotifications(ctx context.Context, channelID string, since time.Time, limit int) (int, error)
	// AddActions adds them. One that exists is left as it is.
	AddActions(ctx context.Context, actions []alert.Action) error
	// EndAction ends an OPEN action. It is false where it is not open any more.
	EndAction(ctx context.Context, a alert.Action) (bool, error)
	// LastNotification is the one with the greatest number of a group key and channel, with
	// its alerts; false where there is none.
	LastNotification(ctx context.Context, groupKey, channelID string) (n alert.Notification, found bool, err error)
	// JoinNotification adds alerts to an OPEN notification that nobody has tried to send, and
	// locks it until the transaction ends. It is false where somebody has. An alert that it
	// tells of already is told of as of the later change.
	JoinNotification(ctx context.Context, id string, alerts []alert.NotifiedAlert) (bool, error)
	// AddNotifications adds them with their alerts. One that exists is left as it is.
	AddNotifications(ctx context.Context, notifications []*alert.Notification) error
	// EndDelivery records the result of an attempt, and what becomes of the notification.
	// It is false where the node has lost the lease; the attempt keeps its result then.
	EndDelivery(ctx context.Context, n alert.Notification, d alert.Delivery) (held bool, err error)
	// UnnamedCritical returns the CRITICAL alerts of no job that a notification is about and
	// has not named, the newest first, at most limit.
	UnnamedCritical(ctx context.Context, id string, limit int) ([]alert.NotifiedAlert, error)
	// CloseNotification gives an OPEN notification a final state without an attempt. It is
	// false where it is not open, or a node sends it at n.UpdateTime.
	CloseNotification(ctx context.Context, n alert.Notification) (bool, error)
}

// AlertFilter narrows alerts; empty fields do not filter.
type AlertFilter struct {
	Statuses []alert.Status
	Level    alert.Level
	Type     alert.RuleType
	RuleID   string
	JobID    string
	NodeID   string
	// Labels are those that an alert must have, with these values.
	Labels map[string]string
	// Groups are those whose alerts may be seen; nil is all. Alerts about the cluster have
	// no group, and only who sees all groups sees them.
	Groups []string
	// From and To bound the first evidence: From ≤ t < To. Zero times are open.
	From time.Time
	To   time.Time
}

// AlertJob is what rules ask of a job; also of one that is deleted.
type AlertJob struct {
	ID string
	// StepID and Step are the id and the name of a step of the job, which is a workflow; empty where it is no step.
	StepID, Step string
	Name         string
	Group        string
	Owner        string
	Labels       map[string]string
	Status       entity.JobStatus
	NextFireTime time.Time
	Deleted      bool
	Alerts       entity.JobAlerts
	Deadline     entity.JobDeadline
}

// Alerts reads alerts.
type Alerts interface {
	// PullBack writes moments that lie ahead of now down to it, in alerts, their notifications and actions: the store's
	// clock was set back since they were written. It ignores differences as small as those between the measurements of
	// nodes. With plans, alerts that are to be planned at a moment to come are planned now. It writes transactions of
	// bounded size, and returns how many rows it changed, also beside an error. A repetition completes it.
	PullBack(ctx context.Context, now time.Time, plans bool) (rows int, err error)
	// Alert returns apperror.KindNotFound for an unknown id.
	Alert(ctx context.Context, id string) (*alert.Alert, error)
	// ListAlerts is ordered by id, newest first. Where no index serves the filter a page may
	// be short, or empty, and still have a next one.
	ListAlerts(ctx context.Context, f AlertFilter, p Page) (alerts []*alert.Alert, next string, err error)
	// Deadlines returns those with after < moment ≤ until, the earliest first.
	Deadlines(ctx context.Context, after, until time.Time, limit int) ([]entity.Deadline, error)
	// UnreportedDeadlines returns those behind one of them, in the order of moment, job and fire,
	// until a moment, that nobody has marked.
	UnreportedDeadlines(ctx context.Context, after entity.Deadline, until time.Time, limit int) ([]entity.Deadline, error)
	// HeldAlerts returns those that hold their fingerprints, in the order of these, after
	// one of them. They are open, or levels that were resolved by hand.
	HeldAlerts(ctx context.Context, after string, limit int) ([]*alert.Alert, error)
	// HeldLevels is HeldAlerts for those of types that are about levels.
	HeldLevels(ctx context.Context, after string, limit int) ([]*alert.Alert, error)
	// AlertJobs returns the jobs that exist or are deleted and kept, by id.
	AlertJobs(ctx context.Context, ids []string) (map[string]AlertJob, error)
	// NotifyDue returns alerts whose time to notify has come, the longest due first.
	NotifyDue(ctx context.Context, now time.Time, limit int) ([]*alert.Alert, error)
	// PlanAgain makes alerts that fire due at a moment, in a transaction of its own: somebody
	// new may have to be told of them. At most 500 ids.
	PlanAgain(ctx context.Context, ids []string, now time.Time) error
	// AlertsBetween counts those whose first evidence was in [from, to), by type and level.
	AlertsBetween(ctx context.Context, from, to time.Time) ([]alert.AlertCount, error)
	// PurgeAlerts deletes at most limit alerts that were resolved before a moment and hold
	// nothing, with their notifications and actions.
	PurgeAlerts(ctx context.Context, before time.Time, limit int) (Purged, error)
	// PurgeReports deletes at most limit weekly reports of before that are not OPEN.
	PurgeReports(ctx context.Context, before time.Time, limit int) (Purged, error)
}

// AlertDelivery is a message about an alert, with one of the attempts to send it. Before
// the first attempt, and where it was held back, Attempt is zero. The text of the message and
// its addresses are left out.
type AlertDelivery struct {
	alert.Notification
	alert.Delivery
	// ChannelName is empty where the channel was deleted.
	ChannelName string
	// Naming is how a message that was sent told of the alert.
	Naming alert.Naming
}

// AlertDeliveries reads what became of messages about alerts.
type AlertDeliveries interface {
	// LatestDeliveries returns the newest messages of each alert, at most most of each,
	// oldest first, each with its latest attempt.
	LatestDeliveries(ctx context.Context, alertIDs []string, most int) (map[string][]AlertDelivery, error)
	// DeliveriesOf returns the newest messages of an alert, oldest first, with every attempt;
	// at most most attempts.
	DeliveriesOf(ctx context.Context, alertID string, most int) ([]AlertDelivery, error)
	// ActionsOfAlerts are what rules did for alerts, by their places.
	ActionsOfAlerts(ctx context.Context, alertIDs []string) (map[string][]alert.Action, error)
}

// AlertSettings keeps what people define for alerting.
type AlertSettings interface {
	// AddAlertSetting refuses a name that its kind has with apperror.KindConflict.
	AddAlertSetting(ctx context.Context, s alert.Setting) error
	// AddMissingAlertSettings adds those whose ids and names do not exist.
	AddMissingAlertSettings(ctx context.Context, settings []alert.Setting) error
	// ReplaceAlertSetting writes the version after the stored one; apperror.KindConflict
	// when that is another. Without Sealed the sealed part stays.
	ReplaceAlertSetting(ctx context.Context, s alert.Setting) error
	// ResealAlertSetting writes the sealed part, which another key has sealed, under the
	// same version. It is false where the setting has changed since, or has another key.
	ResealAlertSetting(ctx context.Context, s alert.Setting, former string) (bool, error)
	DropAlertSetting(ctx context.Context, kind alert.Kind, id string, version int) error
	// AlertSetting returns apperror.KindNotFound for an unknown id.
	AlertSetting(ctx context.Context, kind alert.Kind, id string) (alert.Setting, error)
	// ListAlertSettings is ordered by name. Groups are those whose settings may be seen,
	// beside those of all groups; nil is all.
	ListAlertSettings(ctx context.Context, kind alert.Kind, groups []string, p Page) ([]alert.Setting, string, error)
	// AlertSettings returns all of the kinds, at most limit, by kind and name.
	AlertSettings(ctx context.Context, kinds []alert.Kind, limit int) ([]alert.Setting, error)
	CountAlertSettings(ctx context.Context, kind alert.Kind) (int, error)
}

// RuleSuspensions keeps which rules do nothing for some time, although they are enabled.
type RuleSuspensions interface {
	// SuspendRules writes suspensions; a rule has the latest one that was written.
	SuspendRules(ctx context.Context, all []alert.Suspension) error
	// Suspensions are those that are written, by rule; also those that have ended.
	Suspensions(ctx context.Context) ([]alert.Suspension, error)
	// EndSuspensions deletes those of rules.
	EndSuspensions(ctx context.Context, ruleIDs []string) error
}

// Notifications is what those who send ask of the store.
type Notifications interface {
	// DueNotifications returns OPEN ones that may be tried now, at most 8 of a channel and as many that come with a lease,
	// one channel after the other: of each those first that have waited longest. They know the group of their channel. Of
	// very many that are due, only the oldest are looked at: with 8 or more in the answer there may be others. None of
	// them has a smaller number of its group key and channel open, no node sends it, and it is for none of the channels
	// without. A notification with a lease may still be sent by its node: by the clock the lease is over.
	DueNotifications(ctx context.Context, now time.Time, without []string, limit int) ([]alert.Notification, error)
	// OldNotifications returns OPEN ones that no node sends, and that are not newer than a
	// moment.
	OldNotifications(ctx context.Context, now, created time.Time, limit int) ([]alert.Notification, error)
	// EndLeasesOfTheDead ends the leases of nodes that are DOWN, so that others need not wait for
	// their time, and those that a former life of the node former has left; "" is none. Their messages
	// are then without a lease.
	EndLeasesOfTheDead(ctx context.Context, former string) error
	// Contents returns what a notification tells of, with at most limit alerts: the most
	// urgent first, among these those of no job, then the newest. Alerts that are deleted
	// are left out.
	Contents(ctx context.Context, id string, limit int) (alert.Contents, error)
	// BeginDelivery takes the lease of a notification as it was read, and records the next
	// attempt. It is false where somebody else has it or has tried it since, or it is not
	// open. An attempt that a lost lease left without a result becomes UNKNOWN. The
	// notification comes without its alerts.
	BeginDelivery(ctx context.Context, read alert.Notification, node string, now time.Time) (n alert.Notification,
		ok bool, err error)
	// NotificationsOf returns those that tell of an alert, by id, with their deliveries.
	NotificationsOf(ctx context.Context, alertID string, limit int) ([]alert.Notification, []alert.Delivery, error)
}
