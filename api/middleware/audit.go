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
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// Auditor keeps who did what.
type Auditor interface {
	Record(ctx context.Context, e entity.AuditEntry) error
}

// Audit records a call when it has ended. It runs outside of Require, so that
// it sees the refusals.
func Audit(p permission.Permission, signIn bool, auditor Auditor, log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Next()
		status := c.Writer.Status()
		reads := c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead
		if !worthKeeping(status, permission.Changes(p) && !reads, signIn) {
			return
		}
		who, _ := CallerOf(c)
		e := entity.AuditEntry{
			UserID: who.User.ID, UserName: who.User.Name, TokenID: who.TokenID, Address: c.ClientIP(), RequestID: RequestIDOf(c),
			Action: c.Request.Method + " " + c.FullPath(), Object: objectOf(c), Status: status, Changes: c.GetString(keyChanges),
		}
		var f *fault.Error
		if errors.As(errorOf(c), &f) {
			e.Code = f.Code
		}
		if status == http.StatusServiceUnavailable {
			c.Writer.Flush() // the store may let this entry wait too, and the caller has waited enough
		}
		// Also when the caller is gone: what was done is done.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), keepTimeout)
		defer cancel()
		if err := auditor.Record(ctx, e); err != nil {
			log.Error("a call is missing from the audit log", "error", err, "action", e.Action, "object", e.Object, "user", e.UserName, "status", status, "requestId", e.RequestID)
		}
	}
}

// worthKeeping are calls that changed something, or may have; those that were
// refused for want of a right; and tries to sign in. What was not understood,
// and what nobody was signed in for, is not kept: the log of the server has
// it, and strangers must not be able to fill the store.
func worthKeeping(status int, changes, signIn bool) bool {
	switch {
	case signIn:
		return status < http.StatusBadRequest || status == http.StatusUnauthorized
	case status == http.StatusForbidden:
		return true
	case !changes:
		return false
	}
	return status < http.StatusBadRequest || status == http.StatusConflict || status == http.StatusPreconditionFailed || status >= http.StatusInternalServerError
}

// About names what a call is about, where its path does not.
func About(c *gin.Context, object string) { c.Set(keyObject, object) }

func objectOf(c *gin.Context) string {
	if object := c.GetString(keyObject); object != "" {
		return object
	}
	if len(c.Params) > 0 {
		return c.Params[0].Value
	}
	return ""
}

// Changed notes for the audit log which fields of an object differ before and
// after a call; both are marshalled to JSON objects.
func Changed(c *gin.Context, before, after any) {
	if text, err := json.Marshal(Diff(before, after)); err == nil {
		c.Set(keyChanges, string(text))
	}
}

// Diff is the fields of two objects that differ, with both values. What only
// the server sets is left out.
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
