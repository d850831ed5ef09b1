package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

func bareDeps() Deps {
	return Deps{Logger: slog.New(slog.DiscardHandler), Clock: clocktest.NewShifted()}
}

func hello(c *gin.Context) error {
	c.String(200, "hello")
	return nil
}

func TestARouteWithoutPermissionIsRefused(t *testing.T) {
	for _, p := range []permission.Permission{"", "made:up"} {
		_, err := newRouter(bareDeps(), middleware.Guard{}, []Route{{"GET", "/x", p, middleware.Unbound, false, hello}})
		require.ErrorContains(t, err, "/x")
	}
}

func TestARouteThatDoesNotSayWhatItNamesIsRefused(t *testing.T) {
	_, err := newRouter(bareDeps(), middleware.Guard{},
		[]Route{{"GET", "/x/:id", permission.JobRead, middleware.Undeclared, false, hello}})
	require.ErrorContains(t, err, "/x/:id")
}

func TestBadProxiesAreRefused(t *testing.T) {
	d := bareDeps()
	d.TrustedProxies = []string{"nonsense"}
	_, err := newRouter(d, middleware.Guard{}, nil)
	require.ErrorContains(t, err, "nonsense")
}

func TestARoutePastTheTableIsClosed(t *testing.T) {
	r, err := newRouter(bareDeps(), middleware.Guard{},
		[]Route{{http.MethodGet, "/open", permission.Public, middleware.Undeclared, false, hello}})
	require.NoError(t, err)
	r.engine.GET("/smuggled", middleware.Handle(hello))

	rec := httptest.NewRecorder()
	r.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/open", nil))
	require.Equal(t, 200, rec.Code)
	rec = httptest.NewRecorder()
	r.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/smuggled", nil))
	require.Equal(t, 403, rec.Code)
}

// A mail server may take 20 seconds, and a dry run 10: what bounds an ordinary call must not
// end them before that.
func TestCallsWithBoundsOfTheirOwnAreNotEndedBefore(t *testing.T) {
	d := bareDeps()
	d.RequestTimeout = time.Second
	for path, least := range map[string]time.Duration{
		"/api/v1/alert-channels/:id/test": 22 * time.Second, "/api/v1/alert-rules/dry-run": 10 * time.Second,
	} {
		require.Greater(t, d.timeoutOf(Route{Path: path}), least, path)
	}
	require.Equal(t, time.Second, d.timeoutOf(Route{Path: "/api/v1/alert-rules"}))
}
