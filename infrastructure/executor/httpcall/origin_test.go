package httpcall

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLeftKnowsTheOrigin(t *testing.T) {
	cases := []struct {
		hops []string
		want bool
	}{
		{[]string{"http://a/x", "http://a/y"}, false},
		{[]string{"http://a/x", "http://A:80/y"}, false},
		{[]string{"https://a", "https://a:443"}, false},
		{[]string{"http://a", "https://a"}, false},
		{[]string{"http://a", "https://a:8443"}, true},
		{[]string{"http://a:8080", "https://a"}, true},
		{[]string{"http://a", "http://a:81"}, true},
		{[]string{"http://a", "http://b.a"}, true},
		{[]string{"http://a", "http://b", "http://a"}, true},
	}
	for _, c := range cases {
		var made []*http.Request
		for _, hop := range c.hops {
			u, err := url.Parse(hop)
			require.NoError(t, err)
			made = append(made, &http.Request{URL: u})
		}
		last := len(made) - 1
		require.Equal(t, c.want, left(made[:last], made[last]), "%v", c.hops)
		require.Equal(t, c.hops[last], made[last].URL.String(), "the hop is not changed")
	}
}
