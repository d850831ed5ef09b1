package placeholder_test

import (
	"encoding/json"
	"encoding/xml"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// A body in the form of JSON is JSON, whatever form its type names: no type of those that are followed lets a value
// without quotes add fields.
func TestABodyInTheFormOfJSONIsJSON(t *testing.T) {
	t.Parallel()
	body := `{"n": ${params.n}, "s": "${params.s}"}`
	for _, media := range []string{
		"application/x-www-form-urlencoded", "application/xml", "multipart/form-data; boundary=cut",
	} {
		got, err := placeholder.Expand(body, params(t, map[string]any{"n": 5, "s": evil}), placeholder.Body(media, body))
		require.NoError(t, err, media)
		text, err := json.Marshal(evil)
		require.NoError(t, err)
		require.JSONEq(t, `{"n": 5, "s": `+string(text)+`}`, got)
		for _, n := range []string{`1, "admin": true`, "abc", ""} {
			_, err = placeholder.Expand(body, params(t, map[string]any{"n": n, "s": ""}), placeholder.Body(media, body))
			require.ErrorContains(t, err, "is not one JSON value", "%s %s", media, n)
		}
	}
}

// Null is a value of JSON, and no text.
func TestNullStandsWhereJSONHasAValue(t *testing.T) {
	t.Parallel()
	values := params(t, map[string]any{"nil": nil})
	for _, c := range []struct{ media, body string }{
		{"application/json", `{"a": "${params.nil}"}`},
		{"application/json", `{"${params.nil}": 1}`},
		{"application/json", `${params.nil}`},
		{"text/plain", `{"a": ${params.nil}}`},
		{"application/x-www-form-urlencoded", "a=${params.nil}"},
		{"application/xml", "<a>${params.nil}</a>"},
		{"", "a ${params.nil}"},
	} {
		_, err := placeholder.Expand(c.body, values, placeholder.Body(c.media, c.body))
		require.ErrorContains(t, err, "was not given the parameter nil", "%s %s", c.media, c.body)
	}
	body := `{"a": -${params.nil}}`
	_, err := placeholder.Expand(body, values, placeholder.Body("application/json", body))
	require.ErrorContains(t, err, "joins what stands beside it")
}

// Values stand behind a document type with declarations of its own, and an empty one ends no section of CDATA.
func TestXMLIsFollowedThroughItsDeclarations(t *testing.T) {
	t.Parallel()
	values := params(t, map[string]any{"s": evil, "e": ""})
	body := `<!DOCTYPE a [<!ENTITY b "]>"><!ENTITY c ']>'><!-- " ]> --><?d ]> ?>]>` +
		`<a d="${params.s}">${params.s}<b><![CDATA[]${params.e}]>]]></b></a>`
	got, err := placeholder.Expand(body, values, placeholder.Body("text/xml", body))
	require.NoError(t, err)
	var a struct {
		D    string `xml:"d,attr"`
		B    string `xml:"b"`
		Text string `xml:",chardata"`
	}
	_, root, _ := strings.Cut(got, "?>]>") // the reader of Go knows no instruction there
	require.NoError(t, xml.Unmarshal([]byte(root), &a), got)
	require.Equal(t, []string{evil, evil, "]]>"}, []string{a.D, a.Text, a.B})
}

func TestWhatEndsANameOrAPartElsewhereStaysInIt(t *testing.T) {
	t.Parallel()
	// A backslash at the end of a name does not let it go on.
	media := "multipart/form-data; boundary=cut"
	body := "--cut\r\nContent-Disposition: form-data; name=\"${params.bs}\"; filename=\"${params.more}\"\r\n" +
		"\r\n.\r\n--cut--"
	values := params(t, map[string]any{"bs": `x\`, "more": "; name=admin; y="})
	got, err := placeholder.Expand(body, values, placeholder.Body(media, body))
	require.NoError(t, err)
	part, err := multipart.NewReader(strings.NewReader(got), "cut").NextPart()
	require.NoError(t, err)
	require.Equal(t, []string{"x%5C", "; name=admin; y="}, []string{part.FormName(), part.FileName()}, got)

	// A boundary that a value makes itself is not held by another one.
	body = "--${params.b}\r\n\r\n${params.v}\r\n--${params.b}--"
	for v, message := range map[string]string{"x": "", "\r\n--cut\r\n\r\nx": "holds the boundary"} {
		_, err = placeholder.Expand(body, params(t, map[string]any{"b": "cut", "v": v}), placeholder.Body(media, body))
		if message == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, message)
		}
	}

	// A boundary without the quotes that it needs (RFC 2046, 5.1.1) is one all the same.
	for _, media := range []string{
		"multipart/mixed; boundary=a/b:c", "Multipart/Mixed;charset=x; Boundary = a/b:c; x",
		`multipart/mixed; a; boundary="a/b:c"`,
	} {
		body := "--a/b:c\r\n\r\n${params.v}\r\n--a/b:c--"
		_, err = placeholder.Expand(body, params(t, map[string]any{"v": "--a/b:c"}), placeholder.Body(media, body))
		require.ErrorContains(t, err, "holds the boundary", media)
	}
}
