package listing_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
)

// FuzzCursor: a cursor from outside is refused as wrong, or it is one that a page gave.
func FuzzCursor(f *testing.F) {
	for _, cursor := range []string{
		"", "YQ", "YQ==", "////", "_-", "0L_QtdGA", "MDFhMWY4ZDMtZWEwMA", "AA", "YSdiIC0t",
		"a b",
	} {
		f.Add(cursor)
	}
	same := func(s string) string { return s }
	f.Fuzz(func(t *testing.T, cursor string) {
		for name, read := range map[string]func(string) (string, error){
			"id":   listing.ReadCursor,
			"name": listing.ReadNameCursor,
		} {
			id, err := read(cursor)
			if err != nil {
				require.True(t, apperror.Is(err, apperror.KindInvalid), "%s: %v", name, err)
				continue
			}
			_, next := listing.CutPage([]string{id, "more"}, 1, same)
			again, err := read(next)
			require.NoError(t, err, name)
			require.Equal(t, id, again, name)
		}
	})
}
