package architecture_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/architecture"
)

// enums are the enumerations that the API documents by hand, by the type of their constants. Fields
// of a type such as alert.RuleType are not among them: the document takes the constants itself.
func enums() map[string]architecture.Enum {
	out := map[string]architecture.Enum{}
	for of, names := range map[string][]string{
		"alert.Level":       {"alerting.List level"},
		"alert.Status":      {"vo.Alert.status", "vo.DryAlert.status"},
		"alert.Result":      {"vo.AlertDelivery.result", "vo.ChannelTest.result"},
		"alert.ActionState": {"vo.AlertAction.state"}, "alert.NotificationState": {"vo.AlertDelivery.state"},
		"alert.Naming":      {"vo.AlertDelivery.naming"},
		"statistics.Period": {"cluster.Statistics by"}, "repository.TopColumn": {"cluster.Statistics topBy"},
		"series.Scope": {"vo.MetricSeries.scope"}, "series.Kind": {"vo.MetricSeries.kind"},
		"entity.Wait": {"execution.List waitsFor"}, "entity.Status": {
			"execution.List status", "vo.StartedRun.status", "workflow.ListRuns status", "workflow.Steps status",
		},
		"workflow.Kind":        {"vo.WorkflowPoint.kind", "vo.WorkflowStep.kind", "vo.WorkflowRetryStep.kind"},
		"workflow.RetryAction": {"vo.WorkflowRetryStep.action"}, "workflow.RetryCause": {"vo.WorkflowRetryStep.cause"},
		"entity.Trigger": {"execution.List trigger", "request.RetryFilter.trigger"}, "entity.JobStatus": {"job.List status"},
		"entity.OverlapPolicy":   {"request.JobSettings.overlapPolicy", "vo.Definition.overlapPolicy"},
		"entity.OnNodeLoss":      {"request.JobSettings.onNodeLoss", "vo.Definition.onNodeLoss"},
		"entity.MisfirePolicy":   {"request.ScheduleBody.misfirePolicy", "vo.Schedule.misfirePolicy"},
		"entity.Backoff":         {"request.RetryBody.backoff", "vo.RetryPolicy.backoff"},
		"entity.RoutingStrategy": {"request.RoutingBody.strategy", "vo.Routing.strategy"},
		"entity.OnMiss":          {"request.DeadlineBody.onMiss", "vo.Deadline.onMiss"},
		"entity.ParameterType":   {"request.ParameterBody.type"},
		"entity.NextOn":          {"request.NextBody.on", "vo.Next.on"},
		"entity.AsideKind":       {"vo.SetAside.kind"}, "entity.AsideState": {"vo.SetAside.state"},
		"schedule.Kind":    {"request.ScheduleTimes.kind", "vo.Schedule.kind"},
		"cronexpr.Dialect": {"request.ScheduleTimes.dialect", "vo.Schedule.dialect"},
		"cronexpr.Gap":     {"request.ScheduleTimes.dstGap", "vo.Schedule.dstGap"},
		"cronexpr.Overlap": {"request.ScheduleTimes.dstOverlap", "vo.Schedule.dstOverlap"},
		"schedule.Language": {
			"job.NextFireTimes lang", "job.Preview lang", "request.ChannelBody.language",
			"request.TemplatePreviewBody.language",
		},
		"workflow.OnStepFailure": {"request.StepsBody.onStepFailure", "vo.WorkflowGraph.onStepFailure"},
		"workflow.Join":          {"request.StepBody.join", "vo.WorkflowPoint.join"},
		"workflow.OnTimeout":     {"request.ApprovalBody.onTimeout"}, "workflow.NotBy": {"request.ApprovalBody.notBy"},
		"workflow.Decision": {"request.VoteBody.decision"}, "repository.ApprovalState": {"workflow.List status"},
		"definition.Outcome": {"vo.WorkerDeclaredJob.outcome"},
		"alert.Kind":         {"vo.ImportSetting.kind"},
		"worker.Status":      {"worker.List status", "vo.Worker.status"}, "delivery.StopReason": {"vo.WorkerStop.reason"},
		"delivery.Receipt": {"vo.WorkerReceipt.receipt"},
		"config.Source":    {"vo.Setting.source"}, "explain.Verdict": {"vo.Explanation.verdict"},
	} {
		for _, name := range names {
			out[name] = architecture.Enum{Of: of}
		}
	}
	// CRON is another word for CUSTOM or COMMAND.
	jobType := architecture.Enum{Of: "entity.JobType", Plus: []string{"CRON"}}
	out["job.List jobType"], out["request.JobSettings.jobType"] = jobType, jobType
	out["vo.Job.pausedBy"] = architecture.Enum{Of: "entity.PauseCause", Plus: []string{"JOB"}}
	stepState := architecture.Enum{Of: "entity.Status", Plus: []string{"NOT_DECIDED"}}
	out["vo.WorkflowStep.state"], out["vo.WorkflowRetryStep.state"] = stepState, stepState
	out["vo.Fire.outcome"] = architecture.Enum{Of: "entity.Status", Plus: []string{"PLANNED"}}
	out["request.TokenBody.scopes"] = architecture.Enum{
		Of: "permission.Permission", Less: []string{"account", "public", "self", "user:write"},
	}
	out["request.ReportBody.status"] = architecture.Enum{
		Of: "entity.Status", Less: []string{"WAITING", "RUNNING", "TIMEOUT", "CANCELLED", "SKIPPED", "DEAD"},
	}
	out["vo.JobTrial.status"] = architecture.Enum{
		Of: "entity.Status", Less: []string{"WAITING", "RUNNING", "SKIPPED", "DEAD"},
	}
	out["request.WorkerEnd.status"] = architecture.Enum{
		Of: "entity.Status", Plus: []string{"RETURNED", "RELEASED"},
		Less: []string{"WAITING", "RUNNING", "SKIPPED", "DEAD"},
	}
	// A handler of a worker stands for a CUSTOM job.
	out["vo.WorkerRun.kind"] = architecture.Enum{
		Of: "entity.JobType", Plus: []string{"HANDLER"}, Less: []string{"CUSTOM", "WORKFLOW"},
	}
	out["request.RetryFilter.status"] = architecture.Enum{
		Of: "entity.Status", Less: []string{"WAITING", "RUNNING", "SUCCESS", "CANCELLED", "SKIPPED"},
	}
	out["vo.WorkflowRun.phase"] = architecture.Enum{Plus: convert.All(workflow.Phases(), workflow.Phase.String)}
	// The code has no constants of these.
	for name, values := range map[string][]string{
		"access.Export format": {"csv", "ndjson"}, "cluster.Statistics format": {"csv", "json"},
		"job.Export format": {"json", "yaml"}, "job.Export parts": {"jobs", "alerting", "all"},
		"request.DocumentBody.version": {"1"},
		"request.WorkerEnd.reason": {
			"ERROR", "PANIC", "EXIT_CODE", "HTTP_STATUS", "BODY_MISMATCH", "REDIRECTED", "INVALID",
		},
		"request.HTTPData.method": {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"},
		"vo.Shift.days":           {"MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"},
		"vo.SlotsOfKind.kind":     {"GENERAL", "COMMAND"},
		"vo.Warning.code": {
			"no_node", "no_commands", "no_handler", "secret_in_clear", "unknown_channel", "channel_not_allowed",
			"unknown_job", "unknown_group", "never_matches", "missing_secret", "ended", "carriage_return",
			"unknown_store",
		},
	} {
		out[name] = architecture.Enum{Plus: values}
	}
	return out
}

func TestEnumerationsAreThoseOfTheCode(t *testing.T) {
	found, err := architecture.Enums(os.DirFS("../.."), enums())
	require.NoError(t, err)
	for _, v := range found {
		t.Error(v)
	}
}

func TestAnEnumerationThatLacksAConstantIsFound(t *testing.T) {
	tree := fstest.MapFS{
		"domain/entity/a.go": {Data: []byte("package entity\n\nconst (\n\tNone K = \"\"\n" +
			"\tA K = \"A\"\n\tB K = \"B\"\n)\n\n" +
			"func Ks() []K { return []K{A} }\n")},
		"api/model/vo/a.go": {Data: []byte("package vo\n\ntype X struct {\n\tK string `json:\"k,omitempty\" enums:\"A\"`\n}\n\n" +
			"// Get answers.\n//\n//\t@Param k query string false \"x\" enums(A, C)\nfunc Get() {}\n")},
	}
	found, err := architecture.Enums(tree, map[string]architecture.Enum{
		"vo.X.k": {Of: "entity.K"}, "vo.Get k": {Of: "entity.K", Plus: []string{"C"}, Less: []string{"B"}},
		"vo.Y.k": {Of: "entity.K"},
	})
	require.NoError(t, err)
	require.Len(t, found, 3)
	require.Contains(t, found[0].String()+found[1].String(), "vo.X.k documents [A], and the code has [A B]")
	require.Contains(t, found[0].String()+found[1].String(), "Ks lists every K, but B is missing")
	require.Contains(t, found[2].String(), "no such tag")
}
