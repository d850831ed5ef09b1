package permission_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestRoles(t *testing.T) {
	writes := []permission.Permission{permission.JobWrite, permission.JobRun, permission.ExecutionWrite}
	reads := []permission.Permission{permission.Self, permission.JobRead, permission.ExecutionRead}
	for _, p := range reads {
		for _, r := range []entity.Role{entity.RoleAdmin, entity.RoleOperator, entity.RoleViewer} {
			require.True(t, permission.Allows(r, p), "%s %s", r, p)
		}
	}
	for _, p := range writes {
		require.True(t, permission.Allows(entity.RoleAdmin, p))
		require.True(t, permission.Allows(entity.RoleOperator, p))
		require.False(t, permission.Allows(entity.RoleViewer, p))
	}
	for _, r := range []entity.Role{"", "Admin", "root"} {
		require.Empty(t, permission.Of(r))
	}
	require.False(t, permission.Allows(entity.RoleAdmin, ""))
}
