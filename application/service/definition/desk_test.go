package definition_test

import (
	"testing"

	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
)

var (
	noon        = servicetest.Noon
	requireCode = servicetest.RequireCode
)

// desk is a desk with what only these tests do there.
type desk struct{ *servicetest.Desk }

func newDesk(t *testing.T) *desk { t.Helper(); return &desk{servicetest.New(t)} }
