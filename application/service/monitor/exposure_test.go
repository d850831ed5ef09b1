package monitor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// people are users, one a page.
type people struct {
	repository.UserAdmin
	roles []entity.Role
	err   error
}

func (p *people) ListUsers(_ context.Context, page repository.Page) ([]entity.User, string, error) {
	at := 0
	_, _ = fmt.Sscanf(page.Cursor, "%d", &at)
	if p.err != nil || len(p.roles) == 0 {
		return nil, "", p.err
	}
	next := ""
	if at+1 < len(p.roles) {
		next = fmt.Sprint(at + 1)
	}
	return []entity.User{{ID: fmt.Sprint(at), Role: p.roles[at]}}, next, nil
}

// Whoever may define a command that runs as the server's user is an admin, so
// that a second one is worth a word.
func TestASecondWriterOfJobsExposesTheServersUser(t *testing.T) {
	var log bytes.Buffer
	users := &people{}
	x := monitor.NewCommandExposure(users, slog.New(slog.NewTextHandler(&log, nil)))
	for _, c := range []struct {
		roles   []entity.Role
		exposed bool
		warned  int
	}{
		{nil, false, 0},
		{[]entity.Role{entity.RoleAdmin}, false, 0},
		{[]entity.Role{entity.RoleAdmin, entity.RoleViewer, entity.RoleDisabled}, false, 0},
		{[]entity.Role{entity.RoleAdmin, entity.RoleViewer, entity.RoleOperator}, true, 1},
		{[]entity.Role{entity.RoleAdmin, entity.RoleAdmin}, true, 1},
		{[]entity.Role{entity.RoleAdmin}, false, 1},
		{[]entity.Role{entity.RoleAdmin, entity.RoleOperator}, true, 2},
	} {
		users.roles = c.roles
		require.NoError(t, x.RunOnce(t.Context()))
		reason, blocks := x.Trouble()
		require.Equal(t, c.exposed, reason != "", "%v", c.roles)
		require.False(t, blocks)
		require.Equal(t, c.warned, strings.Count(log.String(), "level=WARN"))
	}
	require.Contains(t, log.String(), "executor.command.user")
	users.err = errors.New("away")
	require.ErrorIs(t, x.RunOnce(t.Context()), users.err)
	reason, _ := x.Trouble()
	require.NotEmpty(t, reason, "what was known stays known")
}
