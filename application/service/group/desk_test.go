package group_test

import (
	"testing"

	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
)

var (
	waiting     = servicetest.Waiting
	noon        = servicetest.Noon
	requireCode = servicetest.RequireCode
	requireKind = servicetest.RequireKind
)

// desk is a desk with what only these tests do there.
type desk struct{ *servicetest.Desk }

func newDesk(t *testing.T) *desk { t.Helper(); return &desk{servicetest.New(t)} }

func eachStore(t *testing.T, test func(d *desk)) {
	t.Helper()
	servicetest.EachStore(t, func(d *servicetest.Desk) { test(&desk{d}) })
}
