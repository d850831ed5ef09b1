package permission_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// as is a session of a user with that role.
func as(r entity.Role) entity.Principal { return entity.Principal{User: entity.User{Role: r}} }

func TestATokenNeverHoldsMoreThanItsOwner(t *testing.T) {
	token := func(r entity.Role, scopes []string) entity.Principal {
		p := as(r)
		p.TokenID, p.Scopes = "t", scopes
		return p
	}
	for _, c := range []struct {
		who  entity.Principal
		p    permission.Permission
		want bool
	}{
		{token(entity.RoleAdmin, nil), permission.UserAdmin, true},
		{token(entity.RoleViewer, nil), permission.JobWrite, false},
		{token(entity.RoleViewer, []string{"job:write"}), permission.JobWrite, false},
		{token(entity.RoleAdmin, []string{"job:read"}), permission.JobRead, true},
		{token(entity.RoleAdmin, []string{"job:read"}), permission.JobWrite, false},
		{token(entity.RoleAdmin, []string{}), permission.JobRead, false},
		{token(entity.RoleAdmin, []string{}), permission.Self, true},
		{token(entity.RoleAdmin, nil), permission.Account, false},
		{token(entity.RoleAdmin, []string{"account"}), permission.Account, false},
		{as(entity.RoleViewer), permission.Account, true},
		{as(entity.RoleDisabled), permission.Self, false},
	} {
		require.Equal(t, c.want, permission.Allows(c.who, c.p), "%+v %s", c.who, c.p)
	}
}

func TestRoles(t *testing.T) {
	writes := []permission.Permission{permission.JobWrite, permission.JobRun, permission.ExecutionWrite}
	reads := []permission.Permission{permission.Self, permission.JobRead, permission.ExecutionRead}
	for _, p := range reads {
		for _, r := range []entity.Role{entity.RoleAdmin, entity.RoleOperator, entity.RoleViewer} {
			require.True(t, permission.Allows(as(r), p), "%s %s", r, p)
		}
	}
	for _, p := range writes {
		require.True(t, permission.Allows(as(entity.RoleAdmin), p))
		require.True(t, permission.Allows(as(entity.RoleOperator), p))
		require.False(t, permission.Allows(as(entity.RoleViewer), p))
	}
	for _, r := range []entity.Role{"", "Admin", "root"} {
		require.Empty(t, permission.Of(entity.User{Role: r}))
	}
	require.False(t, permission.Allows(as(entity.RoleAdmin), ""))
}

// Draining a node concerns the jobs of all groups.
func TestOperatorsOfSomeGroupsDrainNoNodes(t *testing.T) {
	bound := as(entity.RoleOperator)
	bound.User.Groups = map[string]entity.Role{"a": entity.RoleOperator}
	require.False(t, permission.Allows(bound, permission.NodeWrite))
	require.True(t, permission.Allows(as(entity.RoleOperator), permission.NodeWrite))
	require.True(t, permission.Allows(as(entity.RoleAdmin), permission.NodeWrite))
	require.False(t, permission.Allows(as(entity.RoleViewer), permission.NodeWrite))
	require.True(t, permission.Changes(permission.NodeWrite))
}

// Workers are seen by those who see one of their job groups, and drained by those who steer all of them.
func TestWorkersAreSeenByGroup(t *testing.T) {
	bound := as(entity.RoleOperator)
	bound.User.Groups = map[string]entity.Role{"mine": entity.RoleOperator, "shown": entity.RoleViewer}
	narrow := as(entity.RoleAdmin)
	narrow.TokenID, narrow.Scopes = "t", []string{"job:read"}
	for _, c := range []struct {
		who          entity.Principal
		groups       []string
		sees, writes bool
	}{
		{bound, []string{"mine"}, true, true},
		{bound, []string{"mine", "shown"}, true, false},
		{bound, []string{"shown", "other"}, true, false},
		{bound, []string{"mine", "other"}, true, false},
		{bound, []string{"other"}, false, false},
		{bound, nil, false, false},
		{as(entity.RoleOperator), []string{"other"}, true, true},
		{as(entity.RoleOperator), nil, true, true},
		{as(entity.RoleViewer), []string{"other"}, true, false},
		{as(entity.RoleAdmin), []string{"other"}, true, true},
		{narrow, []string{"other"}, true, false},
		{as(entity.RoleDisabled), []string{"other"}, false, false},
	} {
		require.Equal(t, c.sees, permission.SeesWorkers(c.who, c.groups), "%+v %v", c.who, c.groups)
		require.Equal(t, c.writes, permission.WritesWorkers(c.who, c.groups), "%+v %v", c.who, c.groups)
	}
	require.False(t, permission.Allows(as(entity.RoleOperator), permission.WorkerAdmin))
	require.True(t, permission.Allows(as(entity.RoleAdmin), permission.WorkerAdmin))
}

// An editor of the jobs of a group writes its rules; objects for all groups, and alerts of
// the cluster, are for users who are bound to none.
func TestAlertsAreSeenAndSteeredByGroup(t *testing.T) {
	bound := as(entity.RoleOperator)
	bound.User.Groups = map[string]entity.Role{"mine": entity.RoleOperator, "shown": entity.RoleViewer}
	unbound, viewer, admin := as(entity.RoleOperator), as(entity.RoleViewer), as(entity.RoleAdmin)
	narrow := unbound
	narrow.TokenID, narrow.Scopes = "t", []string{"alert:read"}
	for _, c := range []struct {
		name  string
		who   entity.Principal
		group string
		// sees alerts and settings, writes rules, acknowledges
		want [4]bool
	}{
		{"of the own group", bound, "mine", [4]bool{true, true, true, true}},
		{"of a group to look at", bound, "shown", [4]bool{true, true, false, false}},
		{"of another group", bound, "theirs", [4]bool{}},
		{"of all groups, bound", bound, "", [4]bool{false, true, false, false}},
		{"of all groups", unbound, "", [4]bool{true, true, true, true}},
		{"of any group", unbound, "theirs", [4]bool{true, true, true, true}},
		{"viewer", viewer, "", [4]bool{true, true, false, false}},
		{"admin", admin, "", [4]bool{true, true, true, true}},
		{"token that reads", narrow, "", [4]bool{true, true, false, false}},
		{"disabled", as(entity.RoleDisabled), "", [4]bool{}},
	} {
		require.Equal(t, c.want, [4]bool{
			permission.SeesAlerts(c.who, c.group), permission.SeesSetting(c.who, c.group),
			permission.AllowsFor(c.who, permission.AlertWrite, c.group),
			permission.AllowsFor(c.who, permission.AlertAck, c.group),
		}, c.name)
	}
	for _, p := range []permission.Permission{permission.AlertWrite, permission.AlertAck, permission.ChannelWrite} {
		require.True(t, permission.Changes(p))
		require.Contains(t, permission.Scopes(), p)
	}
	require.False(t, permission.Changes(permission.AlertRead))
}

// A channel holds secrets, so it takes the right to write them.
func TestChannelsAreWrittenByWhomAnAdminGaveSecrets(t *testing.T) {
	trusted := as(entity.RoleOperator)
	trusted.User.Secrets = true
	require.True(t, permission.AllowsFor(as(entity.RoleAdmin), permission.ChannelWrite, ""))
	require.True(t, permission.AllowsFor(trusted, permission.ChannelWrite, ""))
	require.False(t, permission.Allows(as(entity.RoleOperator), permission.ChannelWrite))
	trusted.User.Groups = map[string]entity.Role{"mine": entity.RoleOperator, "shown": entity.RoleViewer}
	require.True(t, permission.AllowsFor(trusted, permission.ChannelWrite, "mine"))
	require.False(t, permission.AllowsFor(trusted, permission.ChannelWrite, "shown"))
	require.False(t, permission.AllowsFor(trusted, permission.ChannelWrite, ""))
}
