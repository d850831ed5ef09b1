package validation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

func TestTheTermsOfATokenAreTold(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	year := now.AddDate(0, 0, 366)
	for _, c := range []struct {
		name string
		ends time.Time
		want map[string]string
	}{
		{"ci", year, map[string]string{}},
		{"12345678", now.Add(1), map[string]string{}},
		{"123456789", year, map[string]string{"name": "invalid"}},
		{"", year, map[string]string{"name": "invalid"}},
		{" ci", year, map[string]string{"name": "invalid"}},
		{"c\ni", year, map[string]string{"name": "invalid"}},
		{"ci", time.Time{}, map[string]string{"expiresAt": "required"}},
		{"ci", now, map[string]string{"expiresAt": "out_of_range"}},
		{"", year.Add(1), map[string]string{"name": "invalid", "expiresAt": "out_of_range"}},
	} {
		got := map[string]string{}
		for _, f := range validation.Token(c.name, 8, c.ends, now) {
			got[f.Field] = f.Code
		}
		require.Equal(t, c.want, got, "%q until %s", c.name, c.ends)
	}
}
