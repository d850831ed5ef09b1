package follow_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// asks is a workflow whose step ok is an approval, with a step after it and one after its failure.
func asks(approval string) string {
	return stepsOf(custom("build", ""), fmt.Sprintf(`{"name": "ok", "needs": ["build"], "approval": %s}`, approval),
		custom("publish", `"needs": ["ok"]`), custom("undo", `"needs": [{"step": "ok", "on": ["failure"]}]`))
}

// people adds users, and answers their ids.
func people(t *testing.T, n *enginetest.Node, roles map[string]entity.Role) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for name, role := range roles {
		ids[name] = identity.RandomID(n.Time.Now())
		require.NoError(t, n.Store.AddUser(t.Context(), entity.User{
			ID: ids[name], Name: name, Role: role, PasswordHash: "x", CreateTime: n.Time.Now(), UpdateTime: n.Time.Now(),
		}))
	}
	return ids
}

// team adds a team of the group of the jobs, or writes its next version.
func team(t *testing.T, n *enginetest.Node, version int, members ...string) {
	t.Helper()
	now := n.Time.Now()
	s, err := alert.SettingOf(alert.KindTeam, &alert.Team{
		Head: alert.Head{
			ID: "01a1f8d3-0000-7000-8000-0000000000aa", Name: "pricing", Enabled: true, Version: version, CreateTime: now,
			UpdateTime: now,
		},
		Members: members,
	})
	require.NoError(t, err)
	if version == 1 {
		require.NoError(t, n.Store.AddAlertSetting(t.Context(), s))
		return
	}
	require.NoError(t, n.Store.ReplaceAlertSetting(t.Context(), s))
}

// awaitApproval lets the run go on until its approval has opened, or has failed at once.
func awaitApproval(t *testing.T, n *enginetest.Node, root, workflowID string) *entity.Execution {
	t.Helper()
	goOn(t, n, func() bool {
		return stepRow(t, n, root, workflowID, "ok") != nil
	}, "the approval opens")
	return stepRow(t, n, root, workflowID, "ok")
}

var errNoVote = apperror.New(apperror.KindForbidden, "no_vote", "you have no vote")

// cast votes as a user who holds no permission.
func cast(t *testing.T, n *enginetest.Node, e *entity.Execution, user string, d wf.Decision) error {
	t.Helper()
	return n.Ballots.Cast(t.Context(), wf.Vote{
		ExecutionID: e.ID, UserID: user, User: user, Decision: d, Comment: "because",
	}, func(b *wf.Ballot) error {
		if workflow.HasVote(b, user, false) {
			return nil
		}
		return errNoVote
	})
}

func TestAnApprovalNeedsItsQuorum(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})
		n.Start(t)
		byStep(n, map[string]entity.Outcome{"build": entity.Succeeded(`{"prices": 12}`)})
		ids := people(t, n, map[string]entity.Role{"ann": "viewer", "bob": "operator", "cid": "admin", "eve": "operator"})
		team(t, n, 1, ids["bob"], ids["cid"], "01a1f8d3-0000-7000-8000-00000000dead")
		job := n.Add(t, flowJob("prices", asks(`{"users": ["ann"], "teams": ["pricing"], "need": 2, "timeoutSec": 3600,
			"text": "publish ${steps.build.output.prices} prices?"}`), nil))
		root := fire(t, n, job)
		open := awaitApproval(t, n, root, job.ID)
		require.Equal(t, entity.StatusWaiting, open.Status)
		require.Equal(t, entity.WaitApproval, open.Claim.WaitsFor())
		until, _ := open.Claim.ApprovalUntil()
		require.Equal(t, n.Time.Now().Add(time.Hour), until)
		ballots, err := n.Store.ApprovalsOf(t.Context(), []string{open.ID})
		require.NoError(t, err)
		require.Len(t, ballots, 1)
		require.ElementsMatch(t, []string{ids["ann"], ids["bob"], ids["cid"]}, ballots[0].Voters)
		require.Equal(t, "publish 12 prices?", ballots[0].Text)
		require.Equal(t, [2]string{root, "ok"}, [2]string{ballots[0].RunID, ballots[0].StepKey})

		// Voters stay who they were: eve comes too late, and bob stays although the team lost him.
		team(t, n, 2, ids["eve"])
		require.ErrorIs(t, cast(t, n, open, ids["eve"], wf.Approved), errNoVote)
		require.NoError(t, cast(t, n, open, ids["bob"], wf.Approved))
		require.NoError(t, n.Store.DropUser(t.Context(), ids["bob"]), "a vote stays when its user goes")
		require.Equal(t, entity.StatusWaiting, n.Execution(t, open.ID).Status)
		again := cast(t, n, open, ids["bob"], wf.Approved)
		require.True(t, apperror.Is(again, apperror.KindConflict), "%v", again)
		_, err = n.Flow.RunOnce(t.Context(), n.Time.Now())
		require.NoError(t, err)
		require.Nil(t, stepRow(t, n, root, job.ID, "publish"))

		require.NoError(t, cast(t, n, open, ids["ann"], wf.Approved))
		require.Equal(t, entity.StatusSuccess, n.Execution(t, open.ID).Status)
		late := cast(t, n, open, ids["cid"], wf.Rejected)
		require.True(t, apperror.Is(late, apperror.KindConflict), "%v", late)
		follow(t, n, root, entity.StatusSuccess)
		require.ElementsMatch(t, []string{"build", "publish"}, started(n))
		votes, err := n.Store.VotesOf(t.Context(), []string{open.ID})
		require.NoError(t, err)
		require.Len(t, votes, 2)
	})
}

// Two people vote at once on two nodes: one of them decides, once.
func TestTwoVotesAtOnceDecideOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})
		n.Start(t)
		ids := people(t, n, map[string]entity.Role{"ann": "viewer", "bob": "viewer"})
		job := n.Add(t, flowJob("race", asks(`{"users": ["ann", "bob"]}`), nil))
		other := n.Join(t, enginetest.Options{NodeID: "node-2"})[0]
		for range 5 {
			root := fire(t, n, job)
			open := awaitApproval(t, n, root, job.ID)
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for i, v := range []struct {
				node *enginetest.Node
				user string
				d    wf.Decision
			}{{n, ids["ann"], wf.Approved}, {other, ids["bob"], wf.Rejected}} {
				wg.Go(func() { errs[i] = cast(t, v.node, open, v.user, v.d) })
			}
			wg.Wait()
			end := n.Execution(t, open.ID)
			winner, loser, want := 0, 1, entity.StatusSuccess
			if errs[0] != nil {
				winner, loser, want = 1, 0, entity.StatusFailed
			}
			require.NoError(t, errs[winner])
			require.True(t, apperror.Is(errs[loser], apperror.KindConflict), "%v", errs[loser])
			require.Equal(t, want, end.Status)
			votes, err := n.Store.VotesOf(t.Context(), []string{open.ID})
			require.NoError(t, err)
			require.Len(t, votes, 1, "a vote that came too late is not kept")
		}
	})
}

func TestARejectedApproval(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	ids := people(t, n, map[string]entity.Role{"ann": "viewer", "bob": "viewer", "cid": "viewer"})
	job := n.Add(t, flowJob("no", `{"onStepFailure": "HOLD", `+asks(`{"users": ["ann", "bob", "cid"], "need": 2}`)[1:], nil))
	root := fire(t, n, job)
	open := awaitApproval(t, n, root, job.ID)
	require.NoError(t, cast(t, n, open, ids["ann"], wf.Approved))
	require.NoError(t, cast(t, n, open, ids["bob"], wf.Rejected))
	end := n.Execution(t, open.ID)
	require.Equal(t, [2]string{"FAILED", "REJECTED"}, [2]string{string(end.Status), string(end.Reason)})
	require.Equal(t, "rejected by "+ids["bob"]+": because", end.ErrorMessage)
	follow(t, n, root, entity.StatusFailed)
	require.ElementsMatch(t, []string{"build", "undo"}, started(n))
}

// The vote and what follows from it are one transaction; what comes after it may be done by another node.
func TestAVoteWhoseNodeDies(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})
		n.Start(t)
		ids := people(t, n, map[string]entity.Role{"ann": "viewer"})
		job := n.Add(t, flowJob("dies", asks(`{"users": ["ann"]}`), nil))
		root := fire(t, n, job)
		open := awaitApproval(t, n, root, job.ID)
		doomed := enginetest.On(t, n.Store, enginetest.Options{NodeID: "node-2", Clock: n.Clock})
		doomed.Faults.Next("vote", enginetest.LostCommit)
		require.Error(t, cast(t, doomed, open, ids["ann"], wf.Approved))
		require.Equal(t, entity.StatusWaiting, n.Execution(t, open.ID).Status)
		votes, err := n.Store.VotesOf(t.Context(), []string{open.ID})
		require.NoError(t, err)
		require.Empty(t, votes, "no vote without its end")
		doomed.Faults.Next("vote", enginetest.LostReply) // stored, and nobody hears of it
		require.Error(t, cast(t, doomed, open, ids["ann"], wf.Approved))
		require.Len(t, owed(t, n), 1, "the end owes a decision")
		follow(t, n, root, entity.StatusSuccess)
	})
}

func TestTheTimeOfAnApproval(t *testing.T) {
	for on, want := range map[string]struct {
		status entity.Status
		reason entity.Reason
		then   string
	}{
		"":        {entity.StatusFailed, entity.ReasonRejected, "undo"},
		"REJECT":  {entity.StatusFailed, entity.ReasonRejected, "undo"},
		"APPROVE": {entity.StatusSuccess, entity.ReasonNone, "publish"},
		"FAIL":    {entity.StatusFailed, entity.ReasonTimeout, "undo"},
	} {
		t.Run(on, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			n.Start(t)
			ids := people(t, n, map[string]entity.Role{"ann": "viewer"})
			job := n.Add(t, flowJob("late", asks(fmt.Sprintf(`{"users": ["ann"], "timeoutSec": 60, "onTimeout": %q}`, on)), nil))
			root := fire(t, n, job)
			open := awaitApproval(t, n, root, job.ID)
			n.Clock.Advance(time.Minute - time.Millisecond)
			require.NoError(t, n.Flow.ExpireApprovals(t.Context(), n.Time.Now()))
			require.Equal(t, entity.StatusWaiting, n.Execution(t, open.ID).Status)
			n.Clock.Advance(time.Millisecond)
			late := cast(t, n, open, ids["ann"], wf.Approved)
			require.True(t, apperror.Is(late, apperror.KindConflict), "%v", late)
			require.NoError(t, n.Flow.ExpireApprovals(t.Context(), n.Time.Now()))
			end := n.Execution(t, open.ID)
			require.Equal(t, want.status, end.Status)
			require.Equal(t, want.reason, end.Reason)
			over := entity.StatusSuccess
			if want.status == entity.StatusFailed {
				over = entity.StatusFailed
				require.Contains(t, end.ErrorMessage, "not decided until 2026-")
			}
			follow(t, n, root, over)
			require.Contains(t, started(n), want.then)
		})
	}
}

// The one who triggered the run, or the run above it, has no vote.
func TestAnApprovalNotByItsTriggerer(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	ids := people(t, n, map[string]entity.Role{"ann": "operator", "bob": "operator", "vic": "viewer"})
	job := n.Add(t, flowJob("own", asks(`{"notBy": "TRIGGERER"}`), nil))
	above := n.Add(t, flowJob("above", stepsOf(names("call", job, "")), nil))
	root := fireBy(t, n, above, "ann")
	var below string
	goOn(t, n, func() bool {
		if fires := firesOf(t, n, job, root, "call"); len(fires) > 0 {
			below = fires[0].ID
		}
		return below != "" && stepRow(t, n, below, job.ID, "ok") != nil
	}, "the approval below opens")
	for _, run := range []string{below, fireBy(t, n, job, "ann")} {
		open := awaitApproval(t, n, run, job.ID)
		ballots, err := n.Store.ApprovalsOf(t.Context(), []string{open.ID})
		require.NoError(t, err)
		b := ballots[0]
		require.True(t, b.ByPermission())
		require.False(t, workflow.HasVote(&b, ids["ann"], true))
		require.True(t, workflow.HasVote(&b, ids["bob"], true))
		require.False(t, workflow.HasVote(&b, ids["vic"], false))
	}
	open := awaitApproval(t, n, fire(t, n, job), job.ID)
	ballots, err := n.Store.ApprovalsOf(t.Context(), []string{open.ID})
	require.NoError(t, err)
	require.Empty(t, ballots[0].Excluded, "nobody triggered it")
}

// fireBy starts a run as a user.
func fireBy(t *testing.T, n *enginetest.Node, job *entity.Job, user string) string {
	t.Helper()
	return fireWith(t, n, job, func(f *entity.Fire) { f.By.User = user })
}

// An approval that nobody can give fails when it opens, and says why.
func TestAnApprovalThatNobodyCanGive(t *testing.T) {
	for name, c := range map[string]struct{ approval, message string }{
		"an empty team": {
			`{"teams": ["pricing"]}`, "approval.need is 1, and 0 can vote: the team pricing has no members",
		},
		"names that are gone": {
			`{"users": ["ann", "zed", "off"], "teams": ["none"], "need": 2}`,
			"approval.need is 2, and 1 can vote: the user zed does not exist, or is disabled; the user off does not exist, " +
				"or is disabled; the team none does not exist for the group default",
		},
		"the triggerer alone": {
			`{"users": ["ann"], "notBy": "TRIGGERER"}`, "approval.need is 1, and 0 can vote: ann triggered the run",
		},
		"too few who hold the permission": {
			`{"need": 3}`, "approval.need is 3, and 1 can vote: the others do not hold the permission workflow:approve in the " +
				"group default",
		},
		"a text that reads what is not there": {
			`{"users": ["ann"], "text": "${steps.build.output.none}"}`, "approval.text: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			n.Start(t)
			people(t, n, map[string]entity.Role{"ann": "operator", "vic": "viewer", "off": "disabled"})
			team(t, n, 1)
			job := n.Add(t, flowJob("nobody", asks(c.approval), nil))
			root := fireBy(t, n, job, "ann")
			end := awaitApproval(t, n, root, job.ID)
			require.Equal(t, [2]string{"FAILED", "INVALID"}, [2]string{string(end.Status), string(end.Reason)})
			require.Contains(t, end.ErrorMessage, c.message)
			follow(t, n, root, entity.StatusFailed)
			require.ElementsMatch(t, []string{"build", "undo"}, started(n))
		})
	}
}

func TestACancelReachesAnApproval(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	ids := people(t, n, map[string]entity.Role{"ann": "viewer"})
	job := n.Add(t, flowJob("stop", asks(`{"users": ["ann"]}`), nil))
	root := fire(t, n, job)
	open := awaitApproval(t, n, root, job.ID)
	cancel(t, n, root)
	follow(t, n, root, entity.StatusCancelled)
	require.Equal(t, entity.ReasonRunCancelled, n.Execution(t, open.ID).Reason)
	late := cast(t, n, open, ids["ann"], wf.Approved)
	require.True(t, apperror.Is(late, apperror.KindConflict), "%v", late)
}

func TestVotersOfADefinitionExist(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	people(t, n, map[string]entity.Role{"ann": "viewer", "off": "disabled"})
	team(t, n, 1)
	check := n.Electorate.NewCheck(t.Context(), nil)
	require.Empty(t, check.Voters("default", &wf.Approval{Users: []string{"ann"}, Teams: []string{"pricing"}}))
	faults := check.Voters("default", &wf.Approval{Users: []string{"ann", "off", "Ann"}, Teams: []string{"Pricing"}})
	require.NoError(t, check.Err())
	var fields []string
	for _, f := range faults {
		fields = append(fields, f.Field)
	}
	require.Equal(t, []string{"users[1]", "users[2]", "teams[0]"}, fields)
}
