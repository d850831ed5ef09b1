// Package persistencetest is the contract of the store: what both SQLite and
// MySQL/MariaDB must do. The engine is built on nothing else. Each group of tables
// has its suite in a package below this one.
package persistencetest

import (
	"testing"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/accesstest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/alerttest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/backfilltest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/executiontest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/grouptest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/inflighttest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/jobtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/monitoringtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/recordtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/registrytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/retentiontest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/transactiontest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/workertest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/workflowtest"
)

// Run runs the whole contract.
func Run(t *testing.T, open storetest.Opener) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, open storetest.Opener)
	}{
		{"jobs", jobtest.Jobs},
		{"planning", jobtest.Planning},
		{"executions", executiontest.Executions},
		{"claims", executiontest.Claims},
		{"queues", executiontest.Queues},
		{"finishing", executiontest.Finishing},
		{"lists", executiontest.Lists},
		{"counts", executiontest.Counts},
		{"live fires", inflighttest.InFlightFires},
		{"records", recordtest.Records},
		{"workflow runs", workflowtest.Runs},
		{"lists of workflow runs", workflowtest.Lists},
		{"what workflow runs owe", workflowtest.Owed},
		{"approvals", workflowtest.Approvals},
		{"run tokens", recordtest.RunTokens},
		{"rows set aside", recordtest.Asides},
		{"nodes", registrytest.Nodes},
		{"abilities of nodes", registrytest.Abilities},
		{"forgotten nodes", registrytest.Forgetting},
		{"marks of nodes", registrytest.Marks},
		{"nodes that come back", registrytest.Returns},
		{"troubles of nodes", registrytest.Troubles},
		{"the state of the store", registrytest.StoreStates},
		{"users", accesstest.Users},
		{"groups", grouptest.Groups},
		{"places of groups", grouptest.Places},
		{"pauses", grouptest.Pauses},
		{"backfills", backfilltest.Backfills},
		{"secrets", accesstest.Secrets},
		{"access", accesstest.Access},
		{"idempotency", accesstest.Idempotency},
		{"metrics", monitoringtest.Metrics},
		{"statistics", monitoringtest.Statistics},
		{"changes", monitoringtest.Changes},
		{"alerts", alerttest.Alerts},
		{"settings of alerting", alerttest.Settings},
		{"suspended rules", alerttest.Suspended},
		{"notifications", alerttest.Notifications},
		{"told in order", alerttest.ToldInOrder},
		{"leases of notifications", alerttest.Leases},
		{"alerts and a clock that was set back", alerttest.SteppedBack},
		{"actions of alerts", alerttest.Actions},
		{"retention", retentiontest.Retention},
		{"retention of jobs", retentiontest.JobRetention},
		{"lives of workers", workertest.Lives},
		{"many workers at once", workertest.ManyAtOnce},
		{"lists of workers", workertest.Lists},
		{"beats of workers", workertest.Beats},
		{"ends of workers", workertest.Ends},
		{"drained workers", workertest.Draining},
		{"forgotten workers", workertest.Forgetting},
		{"worker groups", workertest.Groups},
		{"worker tokens", workertest.Tokens},
		{"transactions", transactiontest.Transactions},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}
