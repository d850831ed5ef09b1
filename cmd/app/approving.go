package app

import (
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/approval"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// electorate says who may vote in approvals.
func electorate(s storage) *approval.Electorate {
	return &approval.Electorate{Users: s.Store, Teams: s.Store, Holds: func(u entity.User, group string) bool {
		return permission.AllowsIn(entity.Principal{User: u}, permission.WorkflowApprove, group)
	}}
}
