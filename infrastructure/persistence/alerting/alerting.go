// Package alerting keeps alerts, what people define for alerting, notifications, and
// the attempts to send them.
package alerting

import (
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// Tables are the repositories of alerting outside of transactions; for the one inside
// of them see NewWriter. Safe for concurrent use.
type Tables struct {
	*Alerts
	*Settings
	*RuleStates
	*Notifications
	*Actions
	*Deliveries
}

// NewTables gives the repositories over the connections of s.
func NewTables(s *sqldb.Core) *Tables {
	return &Tables{
		Alerts: &Alerts{s}, Settings: &Settings{s}, RuleStates: &RuleStates{s}, Notifications: &Notifications{s},
		Actions: &Actions{s}, Deliveries: &Deliveries{s},
	}
}
