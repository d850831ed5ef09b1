// Package workflow translates between HTTP and the use cases of workflow runs. Controllers are safe for concurrent use.
package workflow

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/approval"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// ApprovalService shows approvals, and takes votes.
type ApprovalService interface {
	List(ctx context.Context, f repository.ApprovalFilter, p repository.Page, who approval.Caller) (
		found []approval.Approval, next string, err error)
	// Get and Vote return apperror.KindNotFound for one that the caller may not see.
	Get(ctx context.Context, executionID string, who approval.Caller) (approval.Approval, error)
	Vote(ctx context.Context, v wf.Vote, who approval.Caller) (approval.Approval, error)
}

// ApprovalController serves /approvals.
type ApprovalController struct{ Approvals ApprovalService }

func callerOf(c *gin.Context) approval.Caller {
	who, _ := middleware.CallerOf(c)
	return approval.Caller{
		UserID: who.User.ID, Name: who.User.Name,
		Sees:  func(group string) bool { return permission.Sees(who, group) },
		Holds: func(group string) bool { return permission.AllowsIn(who, permission.WorkflowApprove, group) },
	}
}

// List answers GET /approvals.
//
//	@Summary List approvals of workflow runs, newest first
//	@Description Approvals of the groups that the caller sees, and those that name the caller as a voter. Send nextCursor of an answer as cursor to get the page after it; null ends the list, and a page may be short before.
//	@Param mine query bool false "those alone in which the caller has a vote"
//	@Param status query string false "open or decided; both without it" enums(OPEN,DECIDED)
//	@Success 200 {object} vo.Page[vo.Approval]
//	@Router /api/v1/approvals [get]
func (a *ApprovalController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	who, _ := middleware.CallerOf(c)
	f := repository.ApprovalFilter{
		Mine: q.Bool("mine"), State: request.OneOf(q, "status", repository.ApprovalStates()...), UserID: who.User.ID,
		Groups: middleware.VisibleGroups(c),
	}
	if f.VoteIn = []string{}; permission.Allows(who, permission.WorkflowApprove) {
		f.VoteIn = middleware.GroupsWith(c, permission.WorkflowApprove)
	}
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	found, next, err := a.Approvals.List(c.Request.Context(), f, page, callerOf(c))
	if err != nil {
		return err
	}
	return reply.Found(c, page, found, next, vo.FromApproval)
}

// Get answers GET /approvals/{id}.
//
//	@Summary Show one approval, by the id of the execution of its step
//	@Success 200 {object} vo.Approval
//	@Router /api/v1/approvals/{id} [get]
func (a *ApprovalController) Get(c *gin.Context) error {
	found, err := a.Approvals.Get(c.Request.Context(), c.Param("id"), callerOf(c))
	return reply.Shown(c, found, err, vo.FromApproval)
}

// Vote answers POST /approvals/{id}.
//
//	@Summary Approve or reject
//	@Description Each person has one vote. The one that settles the approval ends the step: as many that approve as it needs, or one that rejects.
//	@Param body body request.VoteBody true "the vote"
//	@x-example {"decision": "APPROVE", "comment": "looked at the prices"}
//	@Success 200 {object} vo.Approval
//	@Failure 403 {object} problem.Problem "the caller has no vote"
//	@Failure 409 {object} problem.Problem "it is decided, or its time is over, or the caller has voted already"
//	@Router /api/v1/approvals/{id} [post]
func (a *ApprovalController) Vote(c *gin.Context) error {
	vote, err := request.ReadVote(c.Request)
	if err != nil {
		return err
	}
	vote.ExecutionID = c.Param("id")
	found, err := a.Approvals.Vote(c.Request.Context(), vote, callerOf(c))
	if err != nil {
		return err
	}
	middleware.SetTargetName(c, found.Workflow+"/"+found.StepKey)
	changes := map[string][2]any{"decision": {nil, vote.Decision}, "status": {nil, found.Execution.Status}}
	if vote.Comment != "" {
		changes["comment"] = [2]any{nil, vote.Comment}
	}
	middleware.SetChanges(c, changes)
	return reply.JSON(c, http.StatusOK, vo.FromApproval(found))
}
