package openapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// groupsOf asks as the admin to which groups the objects of a call belong,
// before the call may move them.
func (w *world) groupsOf(op openapitest.Operation, c call) map[string]string {
	w.t.Helper()
	groups := map[string]string{}
	for _, id := range c.objects {
		if group, found := w.groupOf(op.Path, id); found {
			groups[id] = group
		}
	}
	return groups
}

func (w *world) groupOf(path, id string) (string, bool) {
	w.t.Helper()
	switch {
	case strings.Contains(path, "/groups/"):
		return id, true
	case strings.Contains(path, "/jobs/"):
		return w.field("/jobs/"+id, "group")
	case strings.Contains(path, "/executions/"), strings.Contains(path, "/dead-letters/"):
		if job, found := w.field("/executions/"+id, "jobId"); found {
			return w.field("/jobs/"+job, "group")
		}
	}
	if kind := kindOf(path); aboutAlerts(kind) {
		return w.field("/"+kind+"/"+id, "group")
	}
	return "", false
}

func aboutAlerts(kind string) bool { return kind == "alerts" || slices.Contains(settings(), kind) }

// allows reports whether a caller may do what an operation does to an object of a group. Alerts and what people define
// for them may be of no group.
func allows(who entity.Principal, op openapitest.Operation, group string) bool {
	p := permission.Permission(op.Permission())
	switch kind := kindOf(op.Path + "/"); {
	case !aboutAlerts(kind):
		return permission.AllowsIn(who, p, group)
	case kind != "alerts" && op.Method == http.MethodGet:
		return permission.SeesSetting(who, group)
	}
	return permission.AllowsFor(who, p, group)
}

// field reads one field of an object; found is false when there is none.
func (w *world) field(path, name string) (value string, found bool) {
	w.t.Helper()
	got := w.send(w.admin, call{method: http.MethodGet, path: "/api/v1" + path})
	var v map[string]any
	if got.Status != http.StatusOK || json.Unmarshal(got.Answer, &v) != nil {
		return "", false
	}
	if v[name] == nil {
		return "", true
	}
	return fmt.Sprint(v[name]), true
}

// judgeRights holds what happened to what the caller may do.
func (w *world) judgeRights(op openapitest.Operation, who caller, c call, groups map[string]string,
	got openapitest.Call, wrong func(string, ...any),
) {
	w.t.Helper()
	p := permission.Permission(op.Permission())
	refusedFirst := []int{
		http.StatusNotFound,
		http.StatusRequestEntityTooLarge,
	} // an id that nothing has, a body that nobody reads
	switch {
	case p == permission.Public:
		return
	case who.who == nil:
		if !slices.Contains(append(refusedFirst, http.StatusUnauthorized), got.Status) {
			wrong("a stranger got past the door")
		}
		return
	case !permission.Allows(*who.who, p):
		if !slices.Contains(append(refusedFirst, http.StatusForbidden), got.Status) {
			wrong("the caller does not hold %s", p)
		}
		return
	case got.Status >= 300:
		return
	}
	var answer map[string]any
	if got.Header.Get("Content-Type") == openapitest.JSON {
		_ = json.Unmarshal(got.Answer, &answer) // the document was asked already
	}
	if op.Path == "/api/v1/alert-rules/validate" || op.Path == "/api/v1/alert-rules/dry-run" {
		var rule struct {
			Group string
			Rule  struct{ Group string }
		}
		_ = json.Unmarshal(c.body, &rule) // the server has read it
		if group := rule.Group + rule.Rule.Group; !permission.AllowsFor(*who.who, p, group) {
			wrong("the caller does not hold %s in the group %q of the rule", p, group)
		}
	}
	if op.Path == "/api/v1/jobs/pause" || op.Path == "/api/v1/jobs/resume" {
		if who.who.User.Groups != nil {
			wrong("a caller who is bound to groups reached all jobs")
		}
		return
	}
	for _, id := range reached(c, answer) {
		group, known := groups[id]
		if known && !allows(*who.who, op, group) {
			wrong("the caller does not hold %s in the group %s of %s", p, group, id)
		}
	}
	w.judgeAnswer(op, *who.who, answer, wrong)
}

// reached are the objects that a successful call treated.
func reached(c call, answer map[string]any) []string {
	items, _ := answer["items"].([]any)
	if !strings.Contains(c.path, "/bulk/") {
		return c.objects
	}
	var ids []string
	for _, item := range items {
		if one := item.(map[string]any); one["ok"] == true {
			ids = append(ids, fmt.Sprint(one["id"]))
		}
	}
	return ids
}

// judgeAnswer holds what was shown or made to what the caller may see and make.
func (w *world) judgeAnswer(op openapitest.Operation, who entity.Principal, answer map[string]any,
	wrong func(string, ...any),
) {
	w.t.Helper()
	if group, made := answer["group"].(string); made && op.Method != http.MethodGet && answer["jobType"] != nil {
		if !permission.AllowsIn(who, permission.JobWrite, group) {
			wrong("the caller may not put a job into the group %s", group)
		}
		writes := strings.HasSuffix(op.Path, "/jobs") || op.Method == http.MethodPut
		if writes && answer["jobType"] == string(entity.JobCommand) && !permission.AllowsIn(who, permission.JobCommand,
			group) {
			wrong("the caller may not define commands")
		}
	}
	kind := kindOf(op.Path + "/")
	if group, given := answer["group"]; given && aboutAlerts(kind) {
		if name, _ := group.(string); !allows(who, op, name) {
			wrong("the caller does not hold %s in the group %q of what it got", op.Permission(), name)
		}
	}
	items, _ := answer["items"].([]any)
	for _, item := range items {
		shown, _ := item.(map[string]any)
		group, known := shown["group"].(string)
		if aboutAlerts(kind) {
			if !allows(who, op, group) {
				wrong("the caller may not see the %s of the group %q", kind, group)
			}
			continue // they stay in their group when the job moves
		}
		if job, ofJob := shown["jobId"].(string); ofJob {
			group, known = w.field("/jobs/"+job, "group")
		}
		if op.Path == "/api/v1/groups" {
			group, known = shown["name"].(string)
		}
		if known && !permission.Sees(who, group) {
			wrong("the caller may not see the group %s", group)
		}
		if op.Path == "/api/v1/tokens" && shown["userId"] != who.User.ID && !permission.Allows(who, permission.UserAdmin) {
			wrong("the caller sees a token of somebody else")
		}
	}
}
