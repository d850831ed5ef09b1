package persistence_test

import (
	"context"
	"database/sql"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
	"github.com/platform-scheduler/platform-scheduler/test/maximal"
)

// The migrated schema holds what the table of bounds says, and a maximal value of each field comes back as it was.
func TestTheStoreHoldsWhatValidationTakes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		if cfg.DSN != "" {
			compareSchema(t, cfg.DSN)
		}
		for n := range len(maximal.Scripts()) {
			job := storetest.PlannedJob(n+1, storetest.Noon)
			maximal.Job(job, n)
			maximal.Told(job, n)
			require.Empty(t, validation.Job(job, storetest.Noon), "the API takes it")
			require.Equal(t, bounds.Labels, len(job.Labels))
			require.Greater(t, validation.LabelBytes(job.Labels), bounds.LabelBytes*9/10)
			storetest.Add(t, s, []*entity.Job{job})
			got, err := s.Jobs.Get(t.Context(), job.ID)
			require.NoError(t, err)
			require.Equal(t, job, got)
			raiseMaximal(t, s, job)
			sumMaximal(t, s, job.Group)
			defineMaximal(t, s, n)
		}
	})
}

func raiseMaximal(t *testing.T, s *persistence.Store, job *entity.Job) {
	t.Helper()
	labels := maximal.Labels(bounds.FormerLabelBytes)
	for name, value := range maximal.Labels(bounds.FormerLabelBytes) {
		labels["r"+name[1:]] = value // those of a rule
	}
	a := &alert.Alert{
		ID: "alert-" + job.ID[30:], Fingerprint: "f-" + job.ID[30:], Held: true, Type: alert.JobFailed, Level: alert.Warning,
		Status: alert.Firing, RuleID: "r", JobID: job.ID, Group: job.Group, Labels: labels, Details: maps.Clone(labels),
		Content: strings.Repeat("组", 5000), Seq: 1, CreateTime: storetest.Noon, UpdateTime: storetest.Noon,
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		added, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{a})
		require.Len(t, added, 1)
		return err
	})
	got, err := s.Alert(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, a.Labels, got.Labels)
	require.Equal(t, a.Details, got.Details)
	require.Equal(t, a.Group, got.Group)
}

func sumMaximal(t *testing.T, s *persistence.Store, group string) {
	t.Helper()
	key := repository.SumKey{
		Period: statistics.Hour, Start: storetest.Noon.UnixMilli(), Kind: statistics.KindGroup, Name: group,
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Statistics.PutSums(ctx, []repository.SumKey{key},
			map[repository.SumKey]*statistics.StoredRow{key: {FoldSeq: 1}})
	})
}

// compareSchema asks the server how much each column of the table of bounds holds.
func compareSchema(t *testing.T, dsn string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	whole := map[string]int{} // of the documents of a kind
	rows := bounds.Table()
	for _, row := range bounds.Documents() {
		kind, _, _ := strings.Cut(row.Field, ".")
		whole[kind] += row.Bytes + len(row.Field)
	}
	for kind, size := range whole {
		rows = append(rows, bounds.Row{
			Field: kind, Bytes: size, Table: "scheduler_alert_setting", Column: "document",
		})
	}
	for _, row := range rows {
		var characters, octets int64
		err := db.QueryRowContext(t.Context(), "SELECT CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH FROM "+
			"information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND COLUMN_NAME = ?", row.Table,
			row.Column).Scan(&characters, &octets)
		require.NoError(t, err, "%s.%s", row.Table, row.Column)
		require.GreaterOrEqual(t, characters, int64(row.Characters), "%s in %s.%s", row.Field, row.Table, row.Column)
		require.GreaterOrEqual(t, octets, int64(row.Bytes), "%s in %s.%s", row.Field, row.Table, row.Column)
	}
}
