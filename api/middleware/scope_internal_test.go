package middleware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
)

func TestARefusalNamesTheGroupOrAll(t *testing.T) {
	require.ErrorContains(t, forbiddenIn(permission.AlertWrite, "pay"),
		"you do not hold the permission alert:write in the group pay")
	require.ErrorContains(t, forbiddenIn(permission.AlertWrite, ""),
		"you do not hold the permission alert:write for all groups")
}
