// Package middleware is what every request passes on its way to a controller.
package middleware

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/problem"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The keys under which middleware leaves things in a gin context.
const (
	keyRequestID = "ps.requestId"
	keyUser      = "ps.user"
	keyToken     = "ps.token"
	keyAllowed   = "ps.allowed"
	keyError     = "ps.error"
	keyObject    = "ps.object"
	keyName      = "ps.objectName"
	keyParts     = "ps.objectParts"
	keySignedIn  = "ps.signedIn"
	keyChanges   = "ps.changes"
	keyByCookie  = "ps.byCookie"
	keyChecks    = "ps.checks"
	keyQuiet     = "ps.quiet"
)

// Action is a controller's method: it writes a success itself and returns
// everything else as an error.
type Action func(c *gin.Context) error

// Handle runs an action and turns its error into a problem. It refuses to run
// one that no permission was checked for, so that a route that was registered
// past the table is closed, not open.
func Handle(a Action) gin.HandlerFunc {
	return func(c *gin.Context) {
		if !c.GetBool(keyAllowed) {
			Fail(c, apperror.New(apperror.KindForbidden, "forbidden", "this call is not open to anyone"))
			return
		}
		if err := a(c); err != nil {
			Fail(c, err)
		}
	}
}

// Fail answers with the problem of an error and ends the request. The part that was sent
// already stays as it is. Then the connection breaks before the answer ends: nobody takes the
// half of it for the whole.
func Fail(c *gin.Context, err error) {
	c.Abort()
	c.Set(keyError, err)
	if c.Writer.Written() {
		// A writer without deadlines is a test's, which sees the error.
		_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Unix(1, 0))
		return
	}
	p := problem.From(err)
	p.RequestID = RequestIDOf(c)
	p.Write(c.Writer)
}

// CallerOf is who calls; ok is false on public routes.
func CallerOf(c *gin.Context) (who entity.Principal, ok bool) {
	v, _ := c.Get(keyUser)
	who, ok = v.(entity.Principal)
	return who, ok
}

// callerID is the id of who calls. It is called, and not copied into its callers: the poll of a worker is parked on top
// of their frames, and a stack that needs less is kept half as large.
//
//go:noinline
func callerID(c *gin.Context) (id string, ok bool) {
	who, ok := CallerOf(c)
	return who.User.ID, ok
}

// UserOf is the user who calls; ok is false on public routes.
func UserOf(c *gin.Context) (entity.User, bool) {
	who, ok := CallerOf(c)
	return who.User, ok
}

// ActorOf is who calls, by name; nobody on public routes.
func ActorOf(c *gin.Context) entity.Actor {
	who, _ := CallerOf(c)
	return who.Actor()
}

// SetWorkerGroup says of which worker group the caller is, for logs.
func SetWorkerGroup(c *gin.Context, group, tokenID string) {
	c.Set(keyUser, entity.Principal{User: entity.User{Name: entity.WorkerMark + group}, TokenID: tokenID})
}

// Count tells of the end of each call of workers: the route, the status, and the worker group if the token is good.
func Count(call string, told func(call string, status int, group string)) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Next()
		if told != nil {
			told(call, c.Writer.Status(), workerGroupOf(c))
		}
	}
}

// workerGroupOf is the worker group of the caller; empty where its token is not good. It is called for the reason that
// callerID has.
//
//go:noinline
func workerGroupOf(c *gin.Context) string {
	user, _ := UserOf(c)
	return strings.TrimPrefix(user.Name, entity.WorkerMark)
}

// TokenOf is the token that the user came with.
func TokenOf(c *gin.Context) string { return c.GetString(keyToken) }

// ByCookie reports whether the user came with a session's cookie.
func ByCookie(c *gin.Context) bool { return c.GetBool(keyByCookie) }

// RequestIDOf is the id of the request, for answers and logs.
func RequestIDOf(c *gin.Context) string { return c.GetString(keyRequestID) }

// errorOf is the error the request ended in, or nil.
func errorOf(c *gin.Context) error {
	v, _ := c.Get(keyError)
	err, _ := v.(error)
	return err
}

// NotFound answers for addresses that are no route.
func NotFound(c *gin.Context) { Fail(c, NoSuchRoute(c)) }

// NoSuchRoute is the error of an address at which nothing is served.
func NoSuchRoute(c *gin.Context) error {
	says := "there is nothing at this address"
	if !strings.HasPrefix(c.Request.URL.Path, "/api/") { // somebody with a browser, or who left the beginning out
		says += "; the API stands under /api/v1, and its documentation at /swagger/index.html"
	}
	return apperror.New(apperror.KindNotFound, "no_such_route", says)
}

// errMethod is mapped by MethodNotAllowed alone: no use case ends in it.
var errMethod = errors.New("the method is not allowed at this address")

// MethodNotAllowed answers for routes that exist for other methods. own are the
// methods of addresses without parameters.
func MethodNotAllowed(own map[string]string) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Abort()
		c.Set(keyError, errMethod)
		if methods := own[c.Request.URL.Path]; methods != "" {
			c.Header("Allow", methods)
		}
		p := problem.New(405, "method_not_allowed",
			"this address does not know the method "+method(c.Request.Method)+"; see the Allow header")
		p.RequestID = RequestIDOf(c)
		p.Write(c.Writer)
	}
}

// method keeps a made-up method out of the answer.
func method(m string) string {
	if len(m) > 20 {
		return m[:20] + "…"
	}
	return m
}
