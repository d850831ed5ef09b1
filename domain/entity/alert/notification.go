package alert

import "time"

// NotificationState says what is still to do for a notification.
type NotificationState string

// The states. All but OPEN are final.
const (
	NotificationOpen NotificationState = "OPEN"
	NotificationSent NotificationState = "SENT"
	// NotificationDead: it was refused, or tried for a day.
	NotificationDead NotificationState = "DEAD"
	// NotificationSuppressed: a silence, another alert or a limit held it back.
	NotificationSuppressed NotificationState = "SUPPRESSED"
)

const (
	// LeaseTime is how long a node may take to send a notification.
	LeaseTime = 30 * time.Second
	// RetryFor is how long a notification is tried.
	RetryFor = 24 * time.Hour
	// firstWait and longestWait bound the wait before the next attempt.
	firstWait   = time.Second
	longestWait = 10 * time.Minute
)

// Notification is one message about alerts to one channel. Its number is unique within
// group key and channel, and those with smaller numbers go first.
type Notification struct {
	// ID is computed from group key, channel and number. It is the id of the message, too.
	ID        string
	GroupKey  string
	ChannelID string
	// ChannelGroup is the group of the channel, where the notification was read to be sent; empty: the
	// channel is for all groups.
	ChannelGroup string
	Number       int
	State        NotificationState
	// RouteID is the route that planned it; empty: the channels of a rule.
	RouteID string
	// NextTry is when the next attempt may begin.
	NextTry time.Time
	// LeaseNode sends it now, until LeaseUntil at most.
	LeaseNode  string
	LeaseUntil time.Time
	// Attempts is how many were begun.
	Attempts int
	// Why says what held it back, or why it is dead.
	Why string
	// TemplateID names the template of its route; empty is the default one.
	TemplateID string
	// To are the addresses of the people who were on call when it was planned, see Message.
	To []string
	// Body is what it says, where it tells of no alerts: a report. Else it is empty.
	Body Content
	// Alerts are what it tells of, each as of one of its changes.
	Alerts     []NotifiedAlert
	CreateTime time.Time
	UpdateTime time.Time
}

// NotifiedAlert is an alert as of one of its changes.
type NotifiedAlert struct {
	AlertID string
	Seq     int64
	// Firing: it is told as one that fires, although it may be over by now. A later
	// notification tells that.
	Firing bool
}

// Contents is what a notification tells of.
type Contents struct {
	// Alerts are the first of them, each with what is told of it.
	Alerts []ListedAlert
	// Total counts all of them, Firing those that are told as firing.
	Total, Firing int
	// Level is the highest of all.
	Level Level
	// Newest are the newest of them as far as counts need them, at most MaxCounted; none where all are
	// in Alerts and few.
	Newest []CountedAlert
}

const (
	// MaxCounted bounds the alerts that a message counts by type, group and cause.
	MaxCounted = 1000
	// FewAlerts is how many alerts a message tells of without counts.
	FewAlerts = 5
)

// CountedAlert is what counts know of an alert.
type CountedAlert struct {
	Type   RuleType
	Group  string
	Reason string
	// Error is what went wrong, masked; "" where nothing is said.
	Error string
}

// Naming says whether a message that was sent named an alert.
type Naming string

// The ways. Neither is known of messages that a former release sent.
const (
	Named Naming = "NAMED"
	// Counted: the message was too long for it, and told of a number of others.
	Counted Naming = "COUNTED"
)

// ListedAlert is one alert of a notification.
type ListedAlert struct {
	*Alert
	// AsFiring: see NotifiedAlert.
	AsFiring bool
}

// Result is what became of an attempt to send.
type Result string

// The results. An attempt has none while it goes on.
const (
	ResultSent Result = "SENT"
	// ResultRefused: the channel will never take it.
	ResultRefused Result = "REFUSED"
	ResultFailed  Result = "FAILED"
	// ResultUnknown: the node that sent it did not say.
	ResultUnknown Result = "UNKNOWN"
)

// Delivery is one recorded attempt to send a notification.
type Delivery struct {
	NotificationID string
	// Attempt counts from 1.
	Attempt   int
	StartTime time.Time
	EndTime   time.Time
	Result    Result
	// Code and Message say why; they hold no secret.
	Code    string
	Message string
	NodeID  string
	// Named are the alerts that the message named, by id. They are kept where Result is SENT.
	Named []string
}

// Conclude notes the result of the latest attempt. After may be what the channel asked
// to wait for; it is bounded. Jitter, from 0 to 1, shortens the wait by up to half, so
// that what failed together is not tried again together.
func (n *Notification) Conclude(result Result, why string, after time.Duration, at time.Time, jitter float64) {
	n.LeaseNode, n.LeaseUntil, n.UpdateTime = "", time.Time{}, at
	switch {
	case result == ResultSent:
		n.State, n.Why = NotificationSent, ""
	case result == ResultRefused || !at.Before(n.CreateTime.Add(RetryFor)):
		n.State, n.Why = NotificationDead, why
	default:
		wait := min(firstWait<<min(max(n.Attempts-1, 0), 10), longestWait)
		wait -= time.Duration(jitter * float64(wait) / 2)
		n.NextTry, n.Why = at.Add(max(wait, min(after, longestWait))), why
	}
}

// Close ends a notification that nobody sends any more.
func (n *Notification) Close(state NotificationState, why string, at time.Time) {
	n.LeaseNode, n.LeaseUntil, n.UpdateTime, n.State, n.Why = "", time.Time{}, at, state, why
}
