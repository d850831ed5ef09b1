package alerttest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

func setting(n int, kind alert.Kind, group string) alert.Setting {
	return alert.Setting{
		Head: alert.Head{
			ID: storetest.JobID(n), Name: fmt.Sprintf("näme %d", n), Group: group, Enabled: n%2 == 0, Version: 1,
			CreateTime: storetest.Noon, UpdateTime: storetest.Noon,
		},
		Kind: kind, Document: `{"a":"😀"}`,
	}
}

// Settings runs the suite over stores that open gives.
func Settings(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	channel := setting(1, alert.KindChannel, "pay")
	channel.KeyID, channel.Sealed = "k1", []byte{0, 0xff, '\''}
	require.NoError(t, s.AddAlertSetting(t.Context(), channel))
	got, err := s.AlertSetting(t.Context(), alert.KindChannel, channel.ID)
	require.NoError(t, err)
	require.Equal(t, channel, got)
	_, err = s.AlertSetting(t.Context(), alert.KindRule, channel.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound), "it is of another kind")
	namesake := setting(2, alert.KindChannel, "")
	namesake.Name = channel.Name
	require.True(t, apperror.Is(s.AddAlertSetting(t.Context(), namesake), apperror.KindConflict))
	namesake.Kind = alert.KindRule
	require.NoError(t, s.AddAlertSetting(t.Context(), namesake), "a rule may have the name of a channel")

	next := channel
	next.Name, next.Group, next.Enabled, next.Document, next.Version = "new", "", true, "{}", 2
	next.KeyID, next.Sealed, next.UpdateTime = "", nil, storetest.Noon.Add(time.Hour)
	require.NoError(t, s.ReplaceAlertSetting(t.Context(), next))
	next.KeyID, next.Sealed = channel.KeyID, channel.Sealed
	got, err = s.AlertSetting(t.Context(), alert.KindChannel, channel.ID)
	require.NoError(t, err)
	require.Equal(t, next, got, "the sealed part stays")
	require.True(t, apperror.Is(s.ReplaceAlertSetting(t.Context(), next), apperror.KindConflict), "one wins")
	gone := next
	gone.ID = storetest.JobID(9)
	require.True(t, apperror.Is(s.ReplaceAlertSetting(t.Context(), gone), apperror.KindNotFound))
	next.Version, next.KeyID, next.Sealed = 3, "k2", []byte("x")
	require.NoError(t, s.ReplaceAlertSetting(t.Context(), next))
	third := setting(3, alert.KindChannel, "risk")
	require.NoError(t, s.AddAlertSetting(t.Context(), third))
	clash := third
	clash.Name, clash.Version = next.Name, 2
	require.True(t, apperror.Is(s.ReplaceAlertSetting(t.Context(), clash), apperror.KindConflict), "the name is taken")

	kept, fresh := namesake, setting(4, alert.KindRule, "")
	kept.Document = "other"
	for range 2 {
		require.NoError(t, s.AddMissingAlertSettings(t.Context(), []alert.Setting{kept, fresh}))
	}
	all, err := s.AlertSettings(t.Context(), []alert.Kind{alert.KindRule, alert.KindChannel}, 10)
	require.NoError(t, err)
	require.Equal(t, []alert.Setting{next, third, namesake, fresh}, all, "by kind and name; what was there stays")
	all, err = s.AlertSettings(t.Context(), []alert.Kind{alert.KindRule}, 1)
	require.NoError(t, err)
	require.Equal(t, []alert.Setting{namesake}, all)
	n, err := s.CountAlertSettings(t.Context(), alert.KindRule)
	require.NoError(t, err)
	require.Equal(t, 2, n)

	fourth := setting(5, alert.KindChannel, "pay")
	require.NoError(t, s.AddAlertSetting(t.Context(), fourth))
	listed := func(groups []string) (ids []string) {
		page := repository.Page{Limit: 1}
		for {
			found, cursor, err := s.ListAlertSettings(t.Context(), alert.KindChannel, groups, page)
			require.NoError(t, err)
			for _, v := range found {
				ids = append(ids, v.ID)
			}
			if cursor == "" {
				return ids
			}
			page.Cursor = cursor
		}
	}
	require.Equal(t, []string{next.ID, third.ID, fourth.ID}, listed(nil))
	require.Equal(t, []string{next.ID, fourth.ID}, listed([]string{"pay"}), "those of all groups are seen, too")
	require.Equal(t, []string{next.ID}, listed([]string{}))

	require.True(t, apperror.Is(s.DropAlertSetting(t.Context(), alert.KindChannel, next.ID, 1), apperror.KindConflict))
	require.True(t, apperror.Is(s.DropAlertSetting(t.Context(), alert.KindRule, next.ID, 3), apperror.KindNotFound))
	require.NoError(t, s.DropAlertSetting(t.Context(), alert.KindChannel, next.ID, 3))
	require.True(t, apperror.Is(s.DropAlertSetting(t.Context(), alert.KindChannel, next.ID, 3), apperror.KindNotFound))
}
