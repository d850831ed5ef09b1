package middleware

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Auditor stores who did what.
type Auditor interface {
	Record(ctx context.Context, e entity.AuditEntry) error
}

// Kept says which calls of a route are recorded.
type Kept int

// The kinds of routes. Of each, calls that were refused for want of a right are
// recorded too.
const (
	// KeptChanges: calls that changed something, or may have.
	KeptChanges Kept = iota
	// KeptSignIns: tries to sign in.
	KeptSignIns
	// KeptReads: calls that read what is worth knowing of, such as exports.
	KeptReads
)

const (
	// codeReplayed marks a call that did nothing: it got the answer of a former call.
	codeReplayed = "replayed"
	// codeBrokenOff marks a call that ended without an answer, perhaps after its commit.
	codeBrokenOff = "broken_off"
)

// Audit records a call when it has ended, also by a panic. It runs outside Require, so
// that it sees refused calls.
func Audit(k Kept, p permission.Permission, auditor Auditor, log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := recorder{kept: k, permission: p, auditor: auditor, log: log}
		ended := false
		defer func() {
			if !ended { // the panic goes on to whoever answers for it
				r.record(c, max(c.Writer.Status(), http.StatusInternalServerError), codeBrokenOff)
			}
		}()
		c.Next()
		ended = true
		code := ""
		var f *apperror.Error
		switch {
		case errors.As(errorOf(c), &f):
			code = f.Code
		case c.Writer.Header().Get(ReplayedHeader) != "":
			code = codeReplayed
		}
		r.record(c, c.Writer.Status(), code)
	}
}

// recorder records the calls of one route.
type recorder struct {
	kept       Kept
	permission permission.Permission
	auditor    Auditor
	log        *slog.Logger
}

func (r recorder) record(c *gin.Context, status int, code string) {
	if !r.worthKeeping(c, status) {
		return
	}
	who, _ := CallerOf(c)
	if v, signedIn := c.Get(keySignedIn); signedIn {
		who.User, _ = v.(entity.User)
	}
	e := entity.AuditEntry{
		UserID: who.User.ID, UserName: who.User.Name, TokenID: who.TokenID, Address: c.ClientIP(), RequestID: RequestIDOf(c),
		Action: c.Request.Method + " " + c.FullPath(), Object: objectOf(c), ObjectName: nameOf(c), Status: status,
		Code:    code,
		Changes: c.GetString(keyChanges), Calls: 1,
	}
	if parts, treated := c.Get(keyParts); treated {
		e.Parts, _ = parts.([]entity.AuditPart)
	}
	if status == http.StatusServiceUnavailable {
		c.Writer.Flush() // the store may let this entry wait too, and the caller has waited enough
	}
	// Also when the caller is gone: what was done is done.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), keepTimeout)
	defer cancel()
	if err := r.auditor.Record(ctx, e); err != nil {
		r.log.Error("a call is missing from the audit log", "error", err, "action", e.Action, "object", e.Object, "user",
			e.UserName, "status", status, "requestId", e.RequestID)
	}
}

// worthKeeping reports whether the audit log keeps a call. It keeps calls that changed
// something or may have, calls without the permission, sign-ins and exports. It keeps no
// invalid or unauthenticated calls: strangers must not fill the store. The server's log
// has them.
func (r recorder) worthKeeping(c *gin.Context, status int) bool {
	done := status < http.StatusBadRequest
	_, treated := c.Get(keyParts)
	switch {
	case treated: // whoever called, and however it ended
		return true
	case r.kept == KeptSignIns:
		return done || status == http.StatusUnauthorized || status >= http.StatusInternalServerError
	case status == http.StatusForbidden, r.kept == KeptReads && (done || status >= http.StatusInternalServerError):
		return true
	case !permission.Changes(r.permission), c.Request.Method == http.MethodGet, c.Request.Method == http.MethodHead:
		return false
	}
	return done || status == http.StatusConflict || status == http.StatusPreconditionFailed ||
		status >= http.StatusInternalServerError
}

// SetTarget sets the object of a call where its path does not name it.
func SetTarget(c *gin.Context, object string) { c.Set(keyObject, object) }

// SetTargetName sets the name of the object of a call.
func SetTargetName(c *gin.Context, name string) { c.Set(keyName, name) }

// AddPart notes one of several objects that a call changed. The goroutine of the call adds them.
func AddPart(c *gin.Context, object, name string, changes map[string][2]any) {
	parts, _ := c.Get(keyParts)
	all, _ := parts.([]entity.AuditPart)
	part := entity.AuditPart{Object: object, ObjectName: name}
	if text, err := json.Marshal(changes); err == nil && changes != nil {
		part.Changes = string(text)
	}
	c.Set(keyParts, append(all, part))
}

// SignedIn sets the user who signed in with a call.
func SignedIn(c *gin.Context, u entity.User) { c.Set(keySignedIn, u) }

func objectOf(c *gin.Context) string {
	if object := c.GetString(keyObject); object != "" {
		return object
	}
	if len(c.Params) > 0 {
		return c.Params[0].Value
	}
	return ""
}

// nameOf is the name of the object of a call. Groups and secrets stand in the path by their names.
func nameOf(c *gin.Context) string {
	if name := c.GetString(keyName); name != "" {
		return name
	}
	if len(c.Params) > 0 && c.Params[0].Key == "name" {
		return c.Params[0].Value
	}
	return ""
}

// hidden stands for a value that nobody is to read.
const hidden = "***"

// NewValue is the change of a field whose values nobody is to read.
func NewValue() [2]any { return [2]any{hidden, hidden} }

// SetChanges sets what a call changed: the fields, with the values before and after.
func SetChanges(c *gin.Context, changes map[string][2]any) {
	if text, err := json.Marshal(changes); err == nil {
		c.Set(keyChanges, string(text))
	}
}

// SetDiff sets the fields of an object that differ before and after a call. It
// marshals both to JSON objects.
func SetDiff(c *gin.Context, before, after any) {
	SetChanges(c, Diff(before, after))
}

// Diff returns the fields of two objects that differ, with both values. It leaves out
// fields that only the server sets.
func Diff(before, after any) map[string][2]any {
	changes := map[string][2]any{}
	old, now := fieldsOf(before), fieldsOf(after)
	for name := range now {
		if !reflect.DeepEqual(old[name], now[name]) && name != "version" && name != "updateTime" {
			changes[name] = [2]any{old[name], now[name]}
		}
	}
	return changes
}

func fieldsOf(v any) map[string]any {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var fields map[string]any
	_ = json.Unmarshal(text, &fields)
	return fields
}
