package middleware

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

const (
	// MaxBody bounds the body of a request, in bytes, where its route does not
	// say otherwise.
	MaxBody = 1 << 20
	// RequestTimeout is how long a call may work; it is shorter than the
	// server's write time-out, so that the caller still gets an answer.
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

// Limits bounds what a request may cost: its body, in whole MiB of bytes, and
// its identifiers.
func Limits(maxBody int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.Request.ContentLength > maxBody {
			Fail(c, fault.New(fault.KindTooLarge, "body_too_large", fmt.Sprintf("the body is over the limit of %d MiB", maxBody>>20)))
			return
		}
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBody)
		for _, p := range c.Params {
			if !harmlessID(p.Value) {
				// Nothing has such an id.
				NotFound(c)
				return
			}
		}
		c.Next()
	}
}

// Deadline bounds how long a call may work; 0 is for streams, which have bounds
// of their own.
func Deadline(limit time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		if limit == 0 {
			c.Next()
			return
		}
		ctx, cancel := context.WithTimeout(c.Request.Context(), limit)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
		c.Next()
	}
}

// Authenticator knows the users behind tokens.
type Authenticator interface {
	// Authenticate returns fault.KindUnauthenticated for an unknown token.
	Authenticate(ctx context.Context, token string) (entity.Principal, error)
}

// Require lets a request pass whose user holds the permission. Errors of the
// authenticator are refusals: nobody passes because nobody could be asked.
func Require(p permission.Permission, auth Authenticator) gin.HandlerFunc {
	return func(c *gin.Context) {
		if p == permission.Public {
			c.Set(keyAllowed, true)
			c.Next()
			return
		}
		token, ok := bearer(c.Request.Header)
		if !ok {
			Fail(c, fault.New(fault.KindUnauthenticated, "no_token", "sign in, and send the token as Authorization: Bearer TOKEN"))
			return
		}
		who, err := auth.Authenticate(c.Request.Context(), token)
		if err != nil {
			Fail(c, err)
			return
		}
		c.Set(keyUser, who)
		if !permission.Allows(who, p) {
			Fail(c, forbidden(who, p))
			return
		}
		c.Set(keyToken, token)
		c.Set(keyAllowed, true)
		c.Next()
	}
}

// forbidden says what is missing: of the role, or of the token.
func forbidden(who entity.Principal, p permission.Permission) error {
	holder := "the role " + string(who.User.Role)
	if who.TokenID != "" && slices.Contains(permission.Of(who.User), p) {
		holder = "this token"
	}
	return fault.New(fault.KindForbidden, "forbidden", holder+" does not hold the permission "+string(p))
}

// bearer reads the one Authorization header.
func bearer(h http.Header) (string, bool) {
	const scheme = "bearer "
	values := h.Values("Authorization")
	if len(values) != 1 || len(values[0]) <= len(scheme) || !strings.EqualFold(values[0][:len(scheme)], scheme) {
		return "", false
	}
	return values[0][len(scheme):], true
}
