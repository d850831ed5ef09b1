package api

import (
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/controller/access"
	"github.com/platform-scheduler/platform-scheduler/api/controller/alerting"
	"github.com/platform-scheduler/platform-scheduler/api/controller/cluster"
	"github.com/platform-scheduler/platform-scheduler/api/controller/execution"
	"github.com/platform-scheduler/platform-scheduler/api/controller/job"
	"github.com/platform-scheduler/platform-scheduler/api/controller/workflow"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
)

// Route is one row of the route table.
type Route struct {
	Method, Path string
	// Permission is what the caller must hold; the router refuses an empty one.
	Permission permission.Permission
	// Object is the kind of object that the path names.
	Object middleware.Object
	// Idempotent routes accept the header Idempotency-Key.
	Idempotent bool
	action     middleware.Action
}

// loginPath is where people sign in, which is audited although it is public.
const loginPath = "/api/v1/auth/login"

// passwordPath is where people change their own password.
const passwordPath = "/api/v1/auth/password"

// The exports, which are audited although they change nothing.
const (
	exportPath      = "/api/v1/export"
	auditExportPath = "/api/v1/audit-logs/export"
)

// spreadPath is where the jobs of a minute are given a jitter.
const spreadPath = "/api/v1/schedules/spread"

// These calls have bounds of their own, see timeoutOf.
const (
	channelTestPath = "/api/v1/alert-channels/:id/test"
	dryRunPath      = "/api/v1/alert-rules/dry-run"
)

// reportPath is where targets report to, which every node takes.
const reportPath = "/api/v1/executions/:id/report"

// RouteLimits is a route with its own bounds.
type RouteLimits struct {
	Route
	// Body bounds the body, in bytes; a whole number of KiB.
	Body int64
	// Timeout bounds the whole call. Keep it below WriteTimeout unless the controller
	// extends its write deadlines; 0 for streams, which bound themselves.
	Timeout time.Duration
}

// The bounds of bodies with passwords, and of whole documents of definitions.
const (
	credentialsBody = 4 << 10

	importBody = 16 << 20
	importTime = 50 * time.Second
	trialTime  = 50 * time.Second // trial.MaxTime, and the grace of a command that is told to end
	exportTime = 10 * time.Minute
)

// keptOf returns which calls of a route the audit log keeps.
func keptOf(r Route) middleware.Kept {
	switch r.Path {
	case loginPath:
		return middleware.KeptSignIns
	case exportPath, auditExportPath:
		return middleware.KeptReads
	}
	return middleware.KeptChanges
}

// bodyOf returns the bound of the body of an ordinary call, in bytes. Passwords have
// small bodies, and any caller may send one.
func bodyOf(r Route) int64 {
	if r.Path == loginPath || r.Path == passwordPath {
		return credentialsBody
	}
	return middleware.MaxBody
}

// timeoutOf returns the bound of an ordinary call: Deps.RequestTimeout. Calls on many
// objects, the count of planned fires, the sign-in and the polls of workers get the greatest
// bound, because they may wait for their turn; the test of a channel and the dry run of a rule, because
// they have bounds of their own. These calls also end when the store does not answer one
// statement in time.
func (d Deps) timeoutOf(r Route) time.Duration {
	if strings.HasPrefix(r.Path, "/api/v1/bulk/") || r.Path == "/api/v1/schedules/load" ||
		slices.Contains([]string{spreadPath, loginPath, channelTestPath, dryRunPath, pollPath}, r.Path) {
		return middleware.RequestTimeout
	}
	return d.statementTimeout()
}

// limitedRoutes returns the routes with greater bounds than others.
func limitedRoutes(d Deps, sessions *middleware.Sessions) []RouteLimits {
	feed := cluster.NewLiveController(d.Live, d.scope(), sessions, d.Clock)
	stream := execution.NewStreamController(d.Executions, d.Clock)
	definition := &job.DefinitionController{
		Definitions: d.Definitions, Reader: d.reader(), Warner: d.Nodes, Clock: d.Clock,
		PermitActions: alerting.NewRuleController(d.Alerting.Rules, d.Jobs, d.DryRuns).PermitActions,
	}
	audit := &access.AuditController{Log: d.Audit, Clock: d.Clock}
	trial := &execution.TrialController{Trials: d.Drafts, Reader: d.reader()}
	const v1, body, none, run = "/api/v1", middleware.MaxBody, middleware.Undeclared, middleware.Execution
	return []RouteLimits{
		{Route{"GET", v1 + "/executions/:id/logs/stream", permission.ExecutionRead, run, false, stream.Follow}, body, 0},
		// Each topic asks for its own permission.
		{Route{"GET", v1 + "/live", permission.Self, none, false, feed.Follow}, body, 0},
		{Route{"GET", exportPath, permission.JobRead, none, false, definition.Export}, body, exportTime},
		{Route{"GET", auditExportPath, permission.AuditRead, none, false, audit.Export}, body, exportTime},
		// The run may take longer than an ordinary call; its controller judges the group of the draft.
		{Route{"POST", v1 + "/jobs/trial", permission.JobWrite, none, false, trial.Run}, body, trialTime},
		// Each job and group of the document is judged by the controller.
		{Route{"POST", v1 + "/import", permission.JobWrite, none, false, definition.Import}, importBody, importTime},
	}
}

// routes is the whole API on one page, except limitedRoutes and workerRoutes.
func routes(d Deps, cookies middleware.Cookies) []Route {
	reader := d.reader()
	auth := &access.AuthController{Auth: d.Auth, Cookies: cookies}
	jobs := &job.JobController{Jobs: d.Jobs, Reader: reader, Warner: d.Nodes}
	flows := &job.WorkflowController{Jobs: d.Jobs, Reader: request.WorkflowReader{JobReader: reader}}
	plan := &job.ScheduleController{Jobs: d.Jobs, Runs: d.Executions, Reader: reader}
	why := &job.WhyController{Explainer: d.Explain}
	runs := &execution.JobExecutionController{Executions: d.Executions}
	passages := &workflow.RunController{Runs: d.WorkflowRuns, Why: d.Explain}
	report := &execution.ReportController{Runs: d.Reports, Peers: d.Peers}
	secret := &access.SecretController{Secrets: d.Secrets}
	user, session := &access.UserController{Users: d.Users}, &access.SessionController{Sessions: d.Auth, Users: d.Users}
	token := &access.TokenController{Tokens: d.Tokens}
	audit := &access.AuditController{Log: d.Audit, Clock: d.Clock}
	backfills := &job.BackfillController{Backfills: d.Backfills, Reader: reader}
	approvals := &workflow.ApprovalController{Approvals: d.Approvals}
	groups := &job.GroupController{Groups: d.Groups}
	bulk := &job.BulkController{Jobs: d.Jobs, Runs: d.Executions, Scope: d.scope()}
	spread := &job.SpreadController{Plans: d.Loads, Bulk: bulk}
	node := &cluster.NodeController{Nodes: d.Nodes}
	overview := &cluster.OverviewController{Service: d.Overview, Loads: d.Loads}
	statistics := &cluster.StatisticsController{Service: d.Statistics}
	metrics := &cluster.MetricController{Service: d.Series}
	monitor := cluster.NewJobMonitorController(d.Monitor, d.Metrics, d.MetricsToken, d.Version)
	define := d.Alerting
	alerts := &alerting.AlertController{Alerts: d.Alerts}
	rules := alerting.NewRuleController(define.Rules, d.Jobs, d.DryRuns)
	silences := alerting.NewSilenceController(define.Silences, d.StoreClock)
	alertRoutes, teams := alerting.NewRouteController(define.Routes), alerting.NewTeamController(define.Teams)
	contacts, onCall := alerting.NewContactController(define.Contacts), alerting.NewOnCallController(define.OnCall)
	channels := alerting.NewChannelController(define.Channels, d.Trials)
	templates := alerting.NewTemplateController(define.Templates, d.Previews)
	docs, asides := cluster.DocsController{}, &cluster.AsideController{Asides: d.Asides}
	const v1, once = "/api/v1", true
	const none, unbound, job, run, group, all = middleware.Undeclared, middleware.Unbound, middleware.Job,
		middleware.Execution, middleware.Group, middleware.Everything
	return []Route{
		{"GET", "/healthz", permission.Public, none, false, monitor.Healthz},
		{"HEAD", "/healthz", permission.Public, none, false, monitor.Healthz},
		{"GET", "/readyz", permission.Public, none, false, monitor.Readyz},
		{"HEAD", "/readyz", permission.Public, none, false, monitor.Readyz},
		{"GET", "/metrics", permission.Public, none, false, monitor.Metrics},
		{"GET", "/version", permission.Public, none, false, monitor.Version},
		{"GET", "/openapi.json", permission.Public, none, false, docs.Serve},
		{"GET", "/swagger/index.html", permission.Public, none, false, docs.Serve},
		{"GET", "/swagger/doc.json", permission.Public, none, false, docs.Serve},
		{"GET", "/swagger/initializer.js", permission.Public, none, false, docs.Serve},
		{"GET", "/swagger/swagger-ui.css", permission.Public, none, false, docs.Serve},
		{"GET", "/swagger/swagger-ui-bundle.js", permission.Public, none, false, docs.Serve},
		// The page also answers browsers that go to an address of the console which is no route.
		{"GET", "/", permission.Public, none, false, d.Console.Page},
		{"HEAD", "/", permission.Public, none, false, d.Console.Page},
		{"GET", "/assets/:file", permission.Public, unbound, false, d.Console.Asset},
		{"HEAD", "/assets/:file", permission.Public, unbound, false, d.Console.Asset},

		{"POST", loginPath, permission.Public, none, false, auth.Login},
		{"POST", v1 + "/auth/logout", permission.Self, none, false, auth.Logout},
		{"GET", v1 + "/auth/me", permission.Self, none, false, auth.Me},
		{"POST", passwordPath, permission.Account, none, false, auth.ChangePassword},

		{"GET", v1 + "/users", permission.UserAdmin, none, false, user.List},
		{"POST", v1 + "/users", permission.UserWrite, none, false, user.Create},
		{"GET", v1 + "/users/:id", permission.UserAdmin, unbound, false, user.Get},
		{"PUT", v1 + "/users/:id", permission.UserWrite, unbound, false, user.Change},
		{"DELETE", v1 + "/users/:id", permission.UserWrite, unbound, false, user.Delete},
		{"DELETE", v1 + "/users/:id/sessions", permission.UserWrite, unbound, false, session.EndOf},
		{"GET", v1 + "/auth/sessions", permission.Account, none, false, session.List},
		{"DELETE", v1 + "/auth/sessions", permission.Account, none, false, session.EndOthers},
		{"GET", v1 + "/tokens", permission.Account, none, false, token.List},
		{"POST", v1 + "/tokens", permission.Account, none, false, token.Create},
		{"DELETE", v1 + "/tokens/:id", permission.Account, unbound, false, token.Revoke},
		{"GET", v1 + "/audit-logs", permission.AuditRead, none, false, audit.List},

		{"GET", v1 + "/jobs", permission.JobRead, none, false, jobs.List},
		{"POST", v1 + "/jobs", permission.JobWrite, none, once, jobs.Create},
		{"GET", v1 + "/jobs/:id", permission.JobRead, job, false, jobs.Get},
		{"PUT", v1 + "/jobs/:id", permission.JobWrite, job, false, jobs.Replace},
		{"DELETE", v1 + "/jobs/:id", permission.JobWrite, job, false, jobs.Delete},
		{"POST", v1 + "/jobs/:id/undelete", permission.JobWrite, job, false, jobs.Undelete},
		{"POST", v1 + "/jobs/:id/pause", permission.JobWrite, job, false, jobs.Pause},
		{"POST", v1 + "/jobs/:id/resume", permission.JobWrite, job, false, jobs.Resume},
		{"POST", v1 + "/jobs/:id/trigger", permission.JobRun, job, once, jobs.Trigger},
		{"POST", v1 + "/jobs/:id/copy", permission.JobWrite, job, once, jobs.Copy},
		{"GET", v1 + "/jobs/:id/versions", permission.JobRead, job, false, jobs.Versions},
		{"POST", v1 + "/jobs/:id/versions/:version/restore", permission.JobWrite, job, false, jobs.Restore},
		{"GET", v1 + "/jobs/:id/next-fire-times", permission.JobRead, job, false, plan.NextFireTimes},
		{"GET", v1 + "/jobs/:id/fires", permission.JobRead, job, false, plan.Fires},
		{"GET", v1 + "/jobs/:id/why", permission.JobRead, job, false, why.Why},
		{"GET", v1 + "/jobs/:id/graph", permission.JobRead, job, false, passages.Graph},
		{"POST", v1 + "/jobs/:id/backfill", permission.JobRun, job, once, backfills.Start},
		{"GET", v1 + "/jobs/:id/backfills", permission.JobRead, job, false, backfills.List},
		{"POST", v1 + "/jobs/:id/backfills/:backfillId/cancel", permission.JobRun, job, false, backfills.Cancel},
		{"POST", v1 + "/jobs/pause", permission.JobWrite, all, false, groups.PauseAll},
		{"POST", v1 + "/jobs/resume", permission.JobWrite, all, false, groups.ResumeAll},
		{"GET", v1 + "/groups", permission.JobRead, none, false, groups.List},
		{"POST", v1 + "/groups", permission.JobWrite, none, once, groups.Create},
		{"GET", v1 + "/groups/:name", permission.JobRead, group, false, groups.Get},
		{"PUT", v1 + "/groups/:name", permission.JobWrite, group, false, groups.Replace},
		{"DELETE", v1 + "/groups/:name", permission.JobWrite, group, false, groups.Delete},
		{"POST", v1 + "/groups/:name/pause", permission.JobWrite, group, false, groups.Pause},
		{"POST", v1 + "/groups/:name/resume", permission.JobWrite, group, false, groups.Resume},
		// Each object is judged by its controller.
		{"POST", v1 + "/bulk/jobs/pause", permission.JobWrite, none, false, bulk.PauseJobs},
		{"POST", v1 + "/bulk/jobs/resume", permission.JobWrite, none, false, bulk.ResumeJobs},
		{"POST", v1 + "/bulk/jobs/delete", permission.JobWrite, none, false, bulk.DeleteJobs},
		{"POST", v1 + "/bulk/jobs/trigger", permission.JobRun, none, once, bulk.TriggerJobs},
		{"POST", v1 + "/bulk/executions/cancel", permission.ExecutionWrite, none, false, bulk.CancelExecutions},
		{"POST", v1 + "/bulk/executions/retry", permission.ExecutionWrite, none, once, bulk.RetryExecutions},
		{"POST", v1 + "/bulk/dead-letters/replay", permission.ExecutionWrite, none, once, bulk.ReplayLetters},
		{"POST", v1 + "/bulk/dead-letters/discard", permission.ExecutionWrite, none, false, bulk.DiscardLetters},
		{"POST", v1 + "/workflows/validate", permission.JobWrite, none, false, flows.Validate},
		{"POST", v1 + "/schedules/preview", permission.JobRead, none, false, plan.Preview},
		{"POST", spreadPath, permission.JobWrite, none, false, spread.Spread},
		{"GET", v1 + "/schedules/load", permission.JobRead, none, false, overview.Load},
		{"GET", v1 + "/monitor/overview", permission.JobRead, none, false, overview.Overview},
		{"GET", v1 + "/monitor/failures", permission.ExecutionRead, none, false, runs.Failures},
		{"GET", v1 + "/monitor/today", permission.JobRead, none, false, statistics.Today},
		{"GET", v1 + "/monitor/statistics", permission.JobRead, none, false, statistics.Statistics},
		{"GET", v1 + "/monitor/metrics", permission.JobRead, none, false, metrics.Metrics},

		{"GET", v1 + "/executions", permission.ExecutionRead, none, false, runs.List},
		{"GET", v1 + "/executions/:id", permission.ExecutionRead, run, false, runs.Get},
		{"GET", v1 + "/executions/:id/logs", permission.ExecutionRead, run, false, runs.Logs},
		{"GET", v1 + "/executions/:id/last-success", permission.ExecutionRead, run, false, runs.LastSuccess},
		{"GET", v1 + "/executions/:id/attempts", permission.ExecutionRead, run, false, runs.Attempts},
		{"POST", v1 + "/executions/:id/cancel", permission.ExecutionWrite, run, false, runs.Cancel},
		{"POST", v1 + "/executions/:id/retry", permission.ExecutionWrite, run, once, runs.Retry},
		// Its callers have no account: the token of the attempt lets them in.
		{"POST", reportPath, permission.Public, unbound, false, report.Report},
		{"GET", v1 + "/dead-letters", permission.ExecutionRead, none, false, runs.DeadLetters},
		{"GET", v1 + "/dead-letters/causes", permission.ExecutionRead, none, false, runs.DeadLetterCauses},
		{"POST", v1 + "/dead-letters/:id/replay", permission.ExecutionWrite, run, once, runs.Replay},
		{"POST", v1 + "/dead-letters/:id/discard", permission.ExecutionWrite, run, false, runs.Discard},

		// A voter who is named need not see the group, so that the service judges each approval.
		{"GET", v1 + "/approvals", permission.ExecutionRead, none, false, approvals.List},
		{"GET", v1 + "/approvals/:id", permission.ExecutionRead, unbound, false, approvals.Get},
		{"POST", v1 + "/approvals/:id", permission.ApprovalVote, unbound, false, approvals.Vote},
		{"GET", v1 + "/workflow-runs", permission.ExecutionRead, none, false, passages.ListRuns},
		{"GET", v1 + "/workflow-runs/:id", permission.ExecutionRead, run, false, passages.Get},
		{"GET", v1 + "/workflow-runs/:id/steps", permission.ExecutionRead, run, false, passages.Steps},
		{"GET", v1 + "/workflow-runs/:id/steps/:key/why", permission.ExecutionRead, run, false, passages.WhyStep},
		{"POST", v1 + "/workflow-runs/:id/cancel", permission.ExecutionWrite, run, false, passages.Cancel},
		{"POST", v1 + "/workflow-runs/:id/pause", permission.ExecutionWrite, run, false, passages.Pause},
		{"POST", v1 + "/workflow-runs/:id/resume", permission.ExecutionWrite, run, false, passages.Resume},
		{"GET", v1 + "/workflow-runs/:id/retry-plan", permission.ExecutionRead, run, false, passages.RetryPlan},
		{"POST", v1 + "/workflow-runs/:id/retry", permission.ExecutionWrite, run, once, passages.Retry},
		{"POST", v1 + "/workflow-runs/:id/steps/:key/cancel", permission.ExecutionWrite, run, false, passages.CancelStep},
		{"POST", v1 + "/workflow-runs/:id/steps/:key/skip", permission.ExecutionWrite, run, false, passages.SkipStep},
		{"POST", v1 + "/workflow-runs/:id/steps/:key/repeat", permission.ExecutionWrite, run, once, passages.RepeatStep},
		{"POST", v1 + "/workflow-runs/:id/steps/:key/succeed", permission.ExecutionWrite, run, false, passages.SucceedStep},

		{"GET", v1 + "/monitor/set-aside", permission.UserAdmin, none, false, asides.List},
		{"GET", v1 + "/settings", permission.UserAdmin, none, false, cluster.NewSettingController(d.Settings).List},
		{"GET", v1 + "/handlers", permission.JobRead, none, false, node.Handlers},
		{"GET", v1 + "/nodes", permission.JobRead, none, false, node.List},
		{"GET", v1 + "/nodes/:id", permission.JobRead, unbound, false, node.Get},
		{"POST", v1 + "/nodes/:id/drain", permission.NodeWrite, unbound, false, node.Drain},
		{"POST", v1 + "/nodes/:id/resume", permission.NodeWrite, unbound, false, node.Resume},
		// Alerts, and what people define for them, are judged by their controllers: some are of
		// no group.
		{"GET", v1 + "/alerts", permission.AlertRead, none, false, alerts.List},
		{"GET", v1 + "/alerts/:id", permission.AlertRead, unbound, false, alerts.Get},
		{"POST", v1 + "/alerts/:id/ack", permission.AlertAck, unbound, false, alerts.Acknowledge},
		{"POST", v1 + "/alerts/:id/resolve", permission.AlertWrite, unbound, false, alerts.Resolve},
		{"GET", v1 + "/alert-rules", permission.AlertRead, none, false, rules.List},
		{"POST", v1 + "/alert-rules", permission.AlertWrite, none, once, rules.Create},
		// It changes nothing, and asks for the right to write rules of the group itself.
		{"POST", v1 + "/alert-rules/validate", permission.AlertRead, none, false, rules.Validate},
		{"POST", dryRunPath, permission.AlertRead, none, false, rules.DryRun},
		{"GET", v1 + "/alert-rules/:id", permission.AlertRead, unbound, false, rules.Get},
		{"PUT", v1 + "/alert-rules/:id", permission.AlertWrite, unbound, false, rules.Replace},
		{"DELETE", v1 + "/alert-rules/:id", permission.AlertWrite, unbound, false, rules.Delete},
		{"GET", v1 + "/alert-silences", permission.AlertRead, none, false, silences.List},
		{"POST", v1 + "/alert-silences", permission.AlertWrite, none, once, silences.Create},
		{"GET", v1 + "/alert-silences/:id", permission.AlertRead, unbound, false, silences.Get},
		{"PUT", v1 + "/alert-silences/:id", permission.AlertWrite, unbound, false, silences.Replace},
		{"DELETE", v1 + "/alert-silences/:id", permission.AlertWrite, unbound, false, silences.Delete},
		{"GET", v1 + "/alert-routes", permission.AlertRead, none, false, alertRoutes.List},
		{"POST", v1 + "/alert-routes", permission.AlertWrite, none, once, alertRoutes.Create},
		{"GET", v1 + "/alert-routes/:id", permission.AlertRead, unbound, false, alertRoutes.Get},
		{"PUT", v1 + "/alert-routes/:id", permission.AlertWrite, unbound, false, alertRoutes.Replace},
		{"DELETE", v1 + "/alert-routes/:id", permission.AlertWrite, unbound, false, alertRoutes.Delete},
		{"GET", v1 + "/alert-channels", permission.AlertRead, none, false, channels.List},
		// No answer to repeat is kept of what holds a secret.
		{"POST", v1 + "/alert-channels", permission.ChannelWrite, none, false, channels.Create},
		{"GET", v1 + "/alert-channels/:id", permission.AlertRead, unbound, false, channels.Get},
		{"PUT", v1 + "/alert-channels/:id", permission.ChannelWrite, unbound, false, channels.Replace},
		{"DELETE", v1 + "/alert-channels/:id", permission.ChannelWrite, unbound, false, channels.Delete},
		{"POST", channelTestPath, permission.ChannelWrite, unbound, false, channels.Test},
		{"GET", v1 + "/alert-templates", permission.AlertRead, none, false, templates.List},
		{"POST", v1 + "/alert-templates", permission.AlertWrite, none, once, templates.Create},
		{"POST", v1 + "/alert-templates/preview", permission.AlertWrite, none, false, templates.Preview},
		{"GET", v1 + "/alert-templates/:id", permission.AlertRead, unbound, false, templates.Get},
		{"PUT", v1 + "/alert-templates/:id", permission.AlertWrite, unbound, false, templates.Replace},
		{"DELETE", v1 + "/alert-templates/:id", permission.AlertWrite, unbound, false, templates.Delete},
		{"GET", v1 + "/teams", permission.AlertRead, none, false, teams.List},
		{"POST", v1 + "/teams", permission.AlertWrite, none, once, teams.Create},
		{"GET", v1 + "/teams/:id", permission.AlertRead, unbound, false, teams.Get},
		{"PUT", v1 + "/teams/:id", permission.AlertWrite, unbound, false, teams.Replace},
		{"DELETE", v1 + "/teams/:id", permission.AlertWrite, unbound, false, teams.Delete},
		{"GET", v1 + "/contacts", permission.AlertRead, none, false, contacts.List},
		{"POST", v1 + "/contacts", permission.AlertWrite, none, once, contacts.Create},
		{"GET", v1 + "/contacts/:id", permission.AlertRead, unbound, false, contacts.Get},
		{"PUT", v1 + "/contacts/:id", permission.AlertWrite, unbound, false, contacts.Replace},
		{"DELETE", v1 + "/contacts/:id", permission.AlertWrite, unbound, false, contacts.Delete},
		{"GET", v1 + "/on-call", permission.AlertRead, none, false, onCall.List},
		{"POST", v1 + "/on-call", permission.AlertWrite, none, once, onCall.Create},
		{"GET", v1 + "/on-call/:id", permission.AlertRead, unbound, false, onCall.Get},
		{"PUT", v1 + "/on-call/:id", permission.AlertWrite, unbound, false, onCall.Replace},
		{"DELETE", v1 + "/on-call/:id", permission.AlertWrite, unbound, false, onCall.Delete},
		// Each secret is judged by its controller: it may be of several groups.
		{"GET", v1 + "/secrets", permission.SecretRead, none, false, secret.List},
		// No answer to repeat is kept of what holds a secret.
		{"POST", v1 + "/secrets", permission.SecretWrite, none, false, secret.Create},
		{"GET", v1 + "/secrets/:name/uses", permission.SecretRead, unbound, false, secret.Uses},
		{"PUT", v1 + "/secrets/:name", permission.SecretWrite, unbound, false, secret.Replace},
		{"DELETE", v1 + "/secrets/:name", permission.SecretWrite, unbound, false, secret.Delete},
	}
}
