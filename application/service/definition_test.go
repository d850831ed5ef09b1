package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestX(t *testing.T) {
	d := newDesk(t)
	d.create(enginetest.Job("first", func(j *entity.Job) { j.Group = "default" }))
	d.create(enginetest.Job("second", func(j *entity.Job) { j.Group = "reports" }))
	m, err := d.Store.Jobs.JobsNamed(t.Context(), []repository.JobName{{Group: "default", Name: "first"}, {Group: "reports", Name: "second"}})
	require.NoError(t, err)
	require.Len(t, m, 2)
}
