package reply_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// A page that ends early says how far back it looked; a full page, the last one and a list by
// name do not.
func TestAShortPageSaysHowFarItLooked(t *testing.T) {
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	next := repository.WriteCursor(identity.RandomID(at))
	for name, c := range map[string]struct {
		items []string
		next  string
		want  string
	}{
		"short": {[]string{"a"}, next, `{"items":["a"],"nextCursor":"` + next + `","searchedUntil":"2026-03-01T08:00:00.000Z"}`},
		"empty": {nil, next, `{"items":[],"nextCursor":"` + next + `","searchedUntil":"2026-03-01T08:00:00.000Z"}`},
		"full":  {[]string{"a", "b"}, next, `{"items":["a","b"],"nextCursor":"` + next + `"}`},
		"last":  {[]string{"a"}, "", `{"items":["a"],"nextCursor":null}`},
		"other": {[]string{"a"}, repository.WriteCursor("a name"), `{"items":["a"],"nextCursor":"YSBuYW1l"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := httptest.NewRecorder()
			ctx, _ := gin.CreateTestContext(got)
			ctx.Request = httptest.NewRequest(http.MethodGet, "/", nil)
			same := func(item string) string { return item }
			require.NoError(t, reply.Found(ctx, repository.Page{Limit: 2}, c.items, c.next, same))
			require.JSONEq(t, c.want, got.Body.String())
		})
	}
}
