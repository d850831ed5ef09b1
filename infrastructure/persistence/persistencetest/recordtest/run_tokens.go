package recordtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// RunTokens runs the suite over stores that open gives.
func RunTokens(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	mine := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), "n1", 7)
	others := storetest.StartedOn(storetest.RunOf(storetest.JobID(2), storetest.Noon), "n2", 7)
	former := *mine
	former.Epoch = 6
	storetest.Add(t, s, nil, mine, others)
	issue := func(runs ...*entity.Execution) (tokens []string, refused []int) {
		kept := make([]entity.RunToken, len(runs))
		tokens = make([]string, len(runs))
		for i, x := range runs {
			var err error
			tokens[i], kept[i], err = entity.NewRunToken(x, []string{"db.key", "B-2"}, storetest.Noon)
			require.NoError(t, err)
			require.Len(t, tokens[i], entity.RunTokenLen)
			kept[i].KeyID, kept[i].Sealed = "4f00aa10", []byte{0, 0xff, byte(i)}
		}
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
			refused, err = tx.RunTokens.Issue(ctx, runs, kept)
			return err
		})
		return tokens, refused
	}
	of := func(id, token string) (entity.RunToken, bool) {
		found, ok, err := s.RunToken(t.Context(), id, entity.RunTokenHash(token))
		require.NoError(t, err)
		return found, ok
	}
	foreign := *others
	foreign.NodeID = "n1"
	tokens, refused := issue(&former, mine, &foreign)
	require.Equal(t, []int{0, 2}, refused, "only who holds the attempt gets one")
	first, ok := of(mine.ID, tokens[1])
	require.True(t, ok)
	require.Equal(t, entity.RunToken{
		ExecutionID: mine.ID, Attempt: 1, Hash: entity.RunTokenHash(tokens[1]),
		Secrets: []string{"db.key", "B-2"}, KeyID: "4f00aa10", Sealed: []byte{0, 0xff, 1}, CreateTime: storetest.Noon,
	}, first)
	for _, wrong := range [][2]string{
		{mine.ID, tokens[0]},
		{others.ID, tokens[1]},
		{others.ID, tokens[2]},
		{mine.ID, ""},
		{"", tokens[1]},
		{"x' OR 1 = 1", tokens[1]},
		{"é", tokens[1]},
	} {
		_, ok := of(wrong[0], wrong[1])
		require.False(t, ok, "%q", wrong)
	}

	first.Lines, first.Bytes = 3, 400
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		found, ok, err := tx.RunTokens.RunToken(ctx, mine.ID, first.Hash)
		require.True(t, ok)
		require.Zero(t, found.Lines)
		require.NoError(t, err)
		return tx.RunTokens.Count(ctx, first)
	})
	counted, _ := of(mine.ID, tokens[1])
	require.Equal(t, first, counted)

	again, refused := issue(mine)
	require.Empty(t, refused, "the answer of the store may have been lost")
	_, ok = of(mine.ID, tokens[1])
	require.False(t, ok, "an attempt has one token")
	renewed, ok := of(mine.ID, again[0])
	require.True(t, ok)
	require.Equal(t, []byte{0, 0xff, 0}, renewed.Sealed)

	next := *mine
	next.Attempt, next.Token = 2, 2
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Executions.Update(ctx, &next, entity.StatusRunning, 1)
	})
	second, refused := issue(mine, &next)
	require.Equal(t, []int{0}, refused, "an attempt that was replaced")
	former1, ok := of(mine.ID, again[0])
	require.True(t, ok, "late reports of it can be told")
	require.Equal(t, 1, former1.Attempt)
	latest, _ := of(mine.ID, second[1])
	require.Equal(t, 2, latest.Attempt)
	all, err := s.RunTokensOf(t.Context(), []string{mine.ID, others.ID, "é"})
	require.NoError(t, err)
	require.ElementsMatch(t, []entity.RunToken{former1, latest}, all, "of each attempt")

	next.Status, next.Claim = entity.StatusSuccess, ""
	next.UpdateTime = storetest.Noon.Add(-time.Hour)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Executions.Update(ctx, &next, entity.StatusRunning, 2)
	})
	_, err = s.PurgeExecutions(t.Context(), storetest.Noon.Add(time.Hour), 10)
	require.NoError(t, err)
	_, ok = of(mine.ID, second[1])
	require.False(t, ok, "tokens go with their run")
}
