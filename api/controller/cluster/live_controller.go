package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/sse"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/live"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// maxFeeds bounds the live streams of a node, maxUserFeeds those of one user.
	maxFeeds     = 2000
	maxUserFeeds = 20
	// maxTopics bounds the topics of a stream.
	maxTopics = 50
	// lookAfter is how often a stream that hears nothing looks whether it may go on.
	lookAfter = sse.RecheckEvery / 2
)

// Watcher tells which objects change; nil groups are all.
type Watcher interface {
	Watch(topics, groups []string) *live.Watch
	// LastChange counts the looks that have found a change of one of the topics.
	LastChange(topics ...string) int64
}

// LiveController serves the streams of what changes.
type LiveController struct {
	feed     Watcher
	scope    middleware.Scope
	sessions *middleware.Sessions
	clock    clock.Clock
	limit    *sse.Limits
}

// NewLiveController serves a feed to those who may see what it tells of.
func NewLiveController(
	feed Watcher, scope middleware.Scope, sessions *middleware.Sessions, c clock.Clock,
) *LiveController {
	return &LiveController{feed, scope, sessions, c, sse.NewLimits(maxUserFeeds, maxFeeds,
		fmt.Sprintf("you have %d live streams open on this node, and may have no more: close a page of the console",
			maxUserFeeds),
		"this node serves as many live streams as it can; try again")}
}

// Follow answers GET /live.
//
//	@Summary Follow which objects change
//	@Description Each event changed names topics that changed within about a second, never data: read them again. Lists that change all the time are named every three seconds. The topic many stands for all. A comment comes after 15 seconds of silence. The stream ends when the session, token or right ends.
//	@Param topics query string true "1 to 50, with commas between: jobs, job:ID, executions, execution:ID, workflow-run:ID, alerts, nodes, approvals" maxlength(4096)
//	@Produce text/event-stream
//	@Success 200 {string} string "server-sent events: changed with topics and seq"
//	@Failure 422 {object} problem.Problem
//	@Failure 429 {object} problem.Problem "the user has as many streams as one may; see Retry-After"
//	@Header 429 {integer} Retry-After "seconds to wait"
//	@Failure 503 {object} problem.Problem "the node serves as many streams as it can, or the store is away"
//	@Router /api/v1/live [get]
func (l *LiveController) Follow(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	topics := q.Topics("topics", maxTopics)
	if err := q.Done(); err != nil {
		return err
	}
	if err := l.permit(c, topics); err != nil {
		return err
	}
	who, _ := middleware.CallerOf(c)
	leave, err := l.limit.Enter(who.User.ID)
	if err != nil {
		return err
	}
	defer leave()
	release := l.sessions.Hold(middleware.TokenOf(c))
	defer release()
	watch := l.feed.Watch(topics, middleware.VisibleGroups(c))
	defer watch.Close()
	// Once the stream has begun, nothing can be told but that it ends.
	_ = l.run(c.Request.Context(), watch, sse.Begin(c, l.clock), func() error { return unchanged(c, who) })
	return nil
}

// run writes what the watch tells until the caller leaves, or may not go on.
func (l *LiveController) run(ctx context.Context, watch *live.Watch, out *sse.Writer, allowed func() error) error {
	if err := out.Say(": live\n\n"); err != nil {
		return err
	}
	timer := l.clock.NewTimer(lookAfter)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-watch.Changed():
		case <-timer.C():
			timer.Reset(lookAfter)
		}
		if err := allowed(); err != nil {
			return err
		}
		text := ""
		if topics, seq := watch.Take(); len(topics) > 0 {
			text = vo.ChangedEvent(topics, seq)
		} else if l.clock.Monotonic()-out.Spoke() >= sse.KeepAliveEvery-lookAfter {
			text = vo.KeepAlive
		}
		if text == "" {
			continue
		}
		if err := out.Say(text); err != nil {
			return err
		}
	}
}

// unchanged is nil as long as the caller may go on with the same rights.
func unchanged(c *gin.Context, before entity.Principal) error {
	if err := middleware.Recheck(c); err != nil {
		return err
	}
	now, _ := middleware.CallerOf(c)
	if now.User.Role != before.User.Role || !maps.Equal(now.User.Groups, before.User.Groups) ||
		(now.User.Groups == nil) != (before.User.Groups == nil) || !slices.Equal(now.Scopes, before.Scopes) {
		return apperror.New(apperror.KindForbidden, "forbidden", "the rights of the caller have changed")
	}
	return nil
}

// permit refuses topics that the caller may not hear of, all of them at once.
func (l *LiveController) permit(c *gin.Context, topics []string) error {
	who, _ := middleware.CallerOf(c)
	ids := map[middleware.Object][]string{}
	for _, topic := range topics {
		wants, object, id := permission.JobRead, middleware.Undeclared, ""
		switch kind, rest, named := strings.Cut(topic, ":"); {
		case named && kind+":" == live.JobPrefix:
			object, id = middleware.Job, rest
		case named && (kind+":" == live.ExecutionPrefix || kind+":" == live.RunPrefix): // a run has the id of its root
			wants, object, id = permission.ExecutionRead, middleware.Execution, rest
		case topic == live.Executions, topic == live.Approvals:
			wants = permission.ExecutionRead
		case topic == live.Alerts:
			wants = permission.AlertRead
		case topic != live.Jobs && topic != live.Nodes:
			return noTopic(topic)
		}
		if object != middleware.Undeclared && !middleware.HarmlessID(id) {
			return noTopic(topic)
		}
		if !permission.Allows(who, wants) {
			return apperror.New(apperror.KindForbidden, "forbidden",
				"the topic "+topic+" is for callers with the permission "+string(wants))
		}
		if object != middleware.Undeclared {
			ids[object] = append(ids[object], id)
		}
	}
	for object, named := range ids {
		refused, err := l.scope.Refused(c, object, permission.JobRead, named)
		if err != nil {
			return err
		}
		for _, id := range named {
			if refused[id] != nil {
				return apperror.InvalidField("topics", "unknown_object", "there is no "+object.String()+" "+id+" that you may see")
			}
		}
	}
	return nil
}

func noTopic(topic string) error {
	return apperror.InvalidField("topics", "unknown_topic",
		fmt.Sprintf("%q is no topic: use jobs, job:ID, executions, execution:ID, workflow-run:ID, alerts or nodes", topic))
}
