package httpcall

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// FuzzDefinition: the data of a job is refused with fields and reasons, or it is a
// call of a web address.
func FuzzDefinition(f *testing.F) {
	for _, data := range []string{
		``, `{}`, `{"url":"http://example.com/a?b=c"}`,
		`{"url":"https://[::1]:80/","method":"POST","headers":{"a":"b"},"body":"x","expectedStatus":"200,300-302"}`,
		`{"url":"http://h/${params.day}?at=${scheduledTime:yyyy}"}`, `{"url":"file:///etc/passwd"}`,
		`{"url":"http://user:pw@host"}`, `{"url":"http://h\r\nX: y"}`,
		`{"url":"http://h","headers":{"Host":"evil","X":"\u0000"}}`, `{"url":"http://h/..%2f","async":true}`,
	} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		c, problems := parse(data, placeholder.Samples(&entity.Job{Data: data}))
		for _, p := range problems {
			require.True(t, strings.HasPrefix(p.Field, "jobData"), p.Field)
			require.NotEmpty(t, p.Code)
			require.True(t, p.Message != "" && utf8.ValidString(p.Message), "%q", p.Message)
		}
		if len(problems) > 0 {
			return
		}
		require.Contains(t, []string{"http", "https"}, c.url.Scheme)
		require.NotEmpty(t, c.url.Hostname())
		require.Nil(t, c.url.User)
	})
}
