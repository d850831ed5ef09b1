package middleware

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// MaxBody bounds the body of a request, in bytes, where its route does not
	// say otherwise.
	MaxBody = 1 << 20
	// RequestTimeout is how long a call may work at most. It is shorter than the
	// server's write time-out: the caller still gets an answer.
	RequestTimeout = 30 * time.Second
)

// Headers sets what tells browsers to be careful. There is no CORS: other
// origins get nothing.
func Headers() gin.HandlerFunc {
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		if c.Request.TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		c.Next()
	}
}

// Limits bounds what a request may cost: its body, in whole KiB of bytes, and
// its identifiers.
func Limits(maxBody int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.Request.ContentLength > maxBody {
			Fail(c, apperror.New(apperror.KindTooLarge, "body_too_large",
				"the body is over the limit of "+request.Size(maxBody)))
			return
		}
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBody)
		for _, p := range c.Params {
			if !HarmlessID(strings.TrimPrefix(p.Value, entity.WorkerMark)) && !isStepKey(p) {
				// Nothing has such an id.
				NotFound(c)
				return
			}
		}
		c.Next()
	}
}

// isStepKey reports whether a parameter is the key of a step in a workflow run, such as score[7].
func isStepKey(p gin.Param) bool {
	if p.Key != "key" {
		return false
	}
	_, err := workflow.ParseKey(p.Value)
	return err == nil
}

// Deadline bounds a whole call, and each statement of the store. A limit of 0 is for
// streams, which bound themselves.
func Deadline(limit, statementTimeout time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, cancel := repository.WithStatementTimeout(c.Request.Context(), statementTimeout), context.CancelFunc(func() {})
		if limit > 0 {
			ctx, cancel = context.WithTimeout(ctx, limit)
		}
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
		c.Next()
	}
}

// Authenticator knows the users behind tokens.
type Authenticator interface {
	// Authenticate returns apperror.KindUnauthenticated for an unknown token.
	Authenticate(ctx context.Context, token string) (entity.Principal, error)
	// AuthenticateAll leaves out the tokens that Authenticate would refuse, and others
	// that it cannot look up together.
	AuthenticateAll(ctx context.Context, tokens []string) (map[string]entity.Principal, error)
}

// Guard checks who calls and what the caller may do. It is safe for concurrent use.
type Guard struct {
	auth     Authenticator
	cookies  Cookies
	sessions *Sessions
	signedIn func(ctx context.Context)
}

// NewGuard returns a guard that asks an authenticator and also accepts session
// cookies. It calls signedIn for each request of a known caller; signedIn may be nil.
func NewGuard(auth Authenticator, cookies Cookies, sessions *Sessions, signedIn func(ctx context.Context)) Guard {
	if signedIn == nil {
		signedIn = func(context.Context) {}
	}
	return Guard{auth, cookies, sessions, signedIn}
}

// Require passes a request whose user holds the permission. An error of the
// authenticator refuses the request.
func (g Guard) Require(p permission.Permission) gin.HandlerFunc {
	return func(c *gin.Context) {
		if p == permission.Public {
			c.Set(keyAllowed, true)
			c.Next()
			return
		}
		pass(c, func() error { return g.authorize(c, p) })
	}
}

// authorize finds out who calls and whether that user may. An Authorization header
// is judged alone; without one, a session may come in its cookie.
func (g Guard) authorize(c *gin.Context, p permission.Permission) error {
	byCookie := len(c.Request.Header.Values("Authorization")) == 0
	token, err := Bearer(c.Request.Header)
	if byCookie {
		token, err = g.cookies.session(c)
	}
	if err != nil {
		return err
	}
	who, err := g.authenticate(c, token)
	if err != nil {
		return err
	}
	if byCookie && who.TokenID != "" {
		return apperror.New(apperror.KindUnauthenticated, "unknown_token",
			"an API token is sent as Authorization: Bearer TOKEN, never as a cookie")
	}
	c.Set(keyUser, who)
	g.signedIn(c.Request.Context())
	if byCookie {
		if err := g.cookies.verifyIntent(c.Request, token); err != nil {
			return err
		}
	}
	if !permission.Allows(who, p) {
		return forbidden(who, p)
	}
	if !c.GetBool(keyAllowed) { // else Recheck of a stream would add to the context for ever
		ctx := repository.WithUser(c.Request.Context(), who.User.ID)
		c.Request = c.Request.WithContext(repository.WithActor(ctx, who.User.Name))
	}
	c.Set(keyToken, token)
	c.Set(keyByCookie, byCookie)
	c.Set(keyAllowed, true)
	return nil
}

// RequireOwnPassword refuses calls by a session in a cookie while its user has a password
// that somebody else set. Callers who send a token themselves are programs, and go on.
func (g Guard) RequireOwnPassword() gin.HandlerFunc {
	return func(c *gin.Context) {
		if who, _ := CallerOf(c); ByCookie(c) && who.User.MustChangePassword {
			Fail(c, apperror.New(apperror.KindForbidden, "password_change_required",
				"somebody else set your password: change it first, at /password or by POST /api/v1/auth/password"))
			return
		}
		c.Next()
	}
}

// ForgetAfter makes every caller be looked up again after a call that may change sessions,
// users or tokens.
func (g Guard) ForgetAfter() gin.HandlerFunc {
	return func(c *gin.Context) {
		defer g.sessions.forget()
		c.Next()
	}
}

// authenticate finds out whose token it is. A read may go by a verdict of the last seconds.
func (g Guard) authenticate(c *gin.Context, token string) (entity.Principal, error) {
	if c.Request.Method != http.MethodGet {
		return g.auth.Authenticate(c.Request.Context(), token)
	}
	return g.sessions.authenticate(c.Request.Context(), g.auth, token)
}

// pass lets a request go on if a check lets it, and keeps the check for Recheck.
func pass(c *gin.Context, check func() error) {
	if err := check(); err != nil {
		Fail(c, err)
		return
	}
	c.Set(keyChecks, append(checksOf(c), check))
	c.Next()
}

// Recheck repeats what let the request in, for calls that last: the error is
// why it would be refused by now.
func Recheck(c *gin.Context) error {
	for _, check := range checksOf(c) {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func checksOf(c *gin.Context) []func() error {
	v, _ := c.Get(keyChecks)
	checks, _ := v.([]func() error)
	return checks
}

// forbidden says what is missing: of the role, or of the token.
func forbidden(who entity.Principal, p permission.Permission) error {
	holder := "the role " + string(who.User.Role)
	if who.TokenID != "" && slices.Contains(permission.Of(who.User), p) {
		holder = "this token"
	}
	return apperror.New(apperror.KindForbidden, "forbidden", holder+" does not hold the permission "+string(p))
}

// errNoToken is for callers who do not say who they are.
func errNoToken() error {
	return apperror.New(apperror.KindUnauthenticated, "no_token",
		"sign in, and send the token as Authorization: Bearer TOKEN")
}

// Bearer is the token of the one Authorization header.
func Bearer(h http.Header) (string, error) {
	const scheme = "bearer "
	values := h.Values("Authorization")
	if len(values) != 1 || len(values[0]) <= len(scheme) || !strings.EqualFold(values[0][:len(scheme)], scheme) {
		return "", errNoToken()
	}
	return values[0][len(scheme):], nil
}
