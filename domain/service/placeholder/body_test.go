package placeholder_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// evil holds what ends a value of each kind of body.
const evil = `x", "admin": true, "y": "&role=admin&z=</a><b c='d'>]]>` + "\r\n--cut\r\n\\"

func params(t testing.TB, values map[string]any) *placeholder.Values {
	t.Helper()
	b, err := json.Marshal(values)
	require.NoError(t, err)
	return placeholder.Of(run("UTC", string(b)))
}

func TestEachValueKeepsItsPlaceInJSON(t *testing.T) {
	t.Parallel()
	values := params(t, map[string]any{
		"n": 5, "s": evil, "o": map[string]any{"a": []int{1}}, "b": true, "t": "5", "q": `"in quotes"`, "ids": []int{1, 2},
		"nil": nil,
	})
	for _, c := range []struct{ media, body, want string }{
		{"application/json", `{"n": ${params.n}, "s": "${params.s}"}`, `{"n": 5, "s": EVIL}`},
		{"application/json", `{"s": "${params.s}", "n": ${params.n}}`, `{"s": EVIL, "n": 5}`},
		{"", `{"n": ${params.n}, "s": "${params.s}"}`, `{"n": 5, "s": EVIL}`},
		{"Application/JSON; charset=utf-8", `["${params.s}",${params.o}]`, `[EVIL, {"a":[1]}]`},
		{"application/problem+json", `{"a":${params.b},"x":"${params.s}"}`, `{"a":true,"x":EVIL}`},
		{"application/x-amz-json-1.1", `{"a":${params.q},"x":"${params.s}"}`, `{"a":"in quotes","x":EVIL}`},
		{"text/json", `{"ids":${params.ids},"t":${params.t}}`, `{"ids":[1,2],"t":5}`},
		{"application/json", `{"shard":${shardIndex},"of":${shardTotal},"try":${attempt}}`, `{"shard":1,"of":3,"try":2}`},
		{"application/json", `{"day":${scheduledTime:yyyyMMdd},"at":${scheduledTime:epochMs}}`, `{"day":20260331,"at":1774994709007}`},
		{"application/json", `{"no":${params.none:-null},"name":"${jobName}"}`, `{"no":null,"name":"a \"b\""}`},
		{"application/json", `{"no":${params.nil},"l":[${params.nil}],"x":"${params.s}"}`, `{"no":null,"l":[null],"x":EVIL}`},
		{"", `{"no":${params.nil},"five":${params.nil:-5}}`, `{"no":null,"five":5}`},
		{"application/json", `{"${params.t}":"\\\"${params.s}","u":"\u00e9${params.n}"}`, `{"5":JOINED,"u":"é5"}`},
		{"application/json", "[\n -1.5e+3 , true,null,{ },[ ], ${params.n} ]", `[-1500,true,null,{},[],5]`},
		{"application/json", `{"a":"$${x}","b":${params}}`, `{"a":"${x}","b":ALL}`},
		{"text/plain", `{"n": ${params.n}, "s": "${params.s}"}`, `{"n": 5, "s": EVIL}`},
		{"application/x-www-form-urlencoded", `{"s": "${params.s}"}`, `{"s": EVIL}`},
	} {
		got, err := placeholder.Expand(c.body, values, placeholder.Body(c.media, c.body))
		require.NoError(t, err, "%s %s", c.media, c.body)
		text, err := json.Marshal(evil)
		require.NoError(t, err)
		joined, err := json.Marshal(`\"` + evil)
		require.NoError(t, err)
		all, err := placeholder.Expand("${params}", values, placeholder.Raw)
		require.NoError(t, err)
		want := strings.NewReplacer("EVIL", string(text), "JOINED", string(joined), "ALL", all).Replace(c.want)
		require.JSONEq(t, want, got, "%s %s", c.media, c.body)
	}
}

func TestLinesOfJSONAreValuesEach(t *testing.T) {
	t.Parallel()
	values := placeholder.Of(run("UTC", `{"n":5,"o":{"a":1,`+"\n"+`"b":[2,`+"\r\n"+`3]},"s":"two\nlines\"}"}`))
	body := "{\"index\":\"${params.s}\"}\n${params.o}\n\n[${params.n}]\n${params.n}\n"
	for _, media := range []string{"application/x-ndjson", "application/jsonl", "application/json", ""} {
		got, err := placeholder.Expand(body, values, placeholder.Body(media, body))
		require.NoError(t, err, media)
		require.Equal(t, "{\"index\":\"two\\nlines\\\"}\"}\n{\"a\":1,\"b\":[2,3]}\n\n[5]\n5\n", got, media)
	}
	sequence := "\x1e{\"a\":${params.n}}\n\x1e\"${params.s}\"\n" // RFC 7464
	got, err := placeholder.Expand(sequence, values, placeholder.Body("application/json-seq", sequence))
	require.NoError(t, err)
	require.Equal(t, "\x1e{\"a\":5}\n\x1e\"two\\nlines\\\"}\"\n", got)
}

func TestAValueThatIsNoJSONWhereJSONStandsIsRefused(t *testing.T) {
	t.Parallel()
	values := params(t, map[string]any{"n": 5, "neg": -5, "ids": "1,2", "s": evil, "e": "", "k": "role", "bs": `\`})
	const (
		notOne  = "is not one JSON value"
		joins   = "joins what stands beside it"
		nowhere = "stands where JSON has no value"
		noJSON  = "is no JSON from byte"
	)
	for _, c := range []struct{ body, message string }{
		{`[${params.ids}]`, notOne},
		{`{"a": ${params.ids}}`, notOne},
		{`{"a": ${params.s}}`, notOne},
		{`{"a": ${params.e}}`, notOne},
		{`{"a": ${params.none:-}}`, notOne},
		{`{"a": ${params.none:-abc}}`, notOne},
		{`{"a": ${executionId}}`, notOne},
		{`{"a": ${scheduledTime}}`, notOne},
		{`{"a": ${scheduledTime:'0'MM}}`, notOne},
		{`{"a": ${checkpoint}}`, notOne},
		{`{"a": -${params.n}}`, joins},
		{`{"a": 1${params.n}}`, joins},
		{`{"a": 1.${params.n}}`, joins},
		{`{"a": ${params.n}0}`, joins},
		{`{"a": ${params.n}e3}`, joins},
		{`{"a": ${params.n}${params.n}}`, joins},
		{`{"a": ${params.n}"x"}`, joins},
		{`{"a": tru${params.n}}`, joins},
		{`{"a": 1}${params.n}`, joins},
		{`{${params.n}: 1}`, nowhere},
		{`{"a": 1, ${params.n}}`, nowhere},
		{`{"a": 1 ${params.n}}`, nowhere},
		{`{"a" ${params.n}}`, nowhere},
		{`{"a": "x" ${params.n}}`, nowhere},
		{`{"a": "\${params.bs}"}`, "behind a backslash"},
		{`{"a": "\u00${params.n}"}`, "behind a backslash"},
		{`{"role": "user", "${params.k}": "admin"}`, "the object has already"},
		{`{"${params.k}": "admin", "role": "user"}`, "the object has already"},
		{`{"${params.k}": "admin", "\u0072ole": "user"}`, "the object has already"},
		{`{'a': "${params.n}"}`, noJSON + " 2 "},
		{`{"a": "${params.n}",}`, noJSON + " 21 "},
		{`{"a": "${params.n}"`, noJSON + " 20 "},
		{`{"a": "${params.n}`, noJSON},
		{`{"a": 01, "b": ${params.n}}`, noJSON},
		{`{"a": "${params.n}"} {"b": 2}`, noJSON},
		{`{"a": "$${x}", b: ${params.n}}`, noJSON + " 16 "},
		{"{\"a\": \"line\n${params.n}\"}", noJSON},
		{`[${params.n}}`, noJSON},
		{`/* ${params.n} */ 1`, noJSON},
		{` ${params.n} , 1`, noJSON},
	} {
		for _, media := range []string{"application/json", "application/x-ndjson", "application/vnd.api+json"} {
			got, err := placeholder.Expand(c.body, values, placeholder.Body(media, c.body))
			require.ErrorContains(t, err, c.message, c.body)
			require.Empty(t, got)
			require.NotContains(t, err.Error(), "admin", "values are not told")
			require.Less(t, len(err.Error()), 400)
		}
	}
	// Where nobody names the type, what would be sent as JSON is held to it.
	for _, body := range []string{
		`{"a": -${params.n}, "s": "${params.s}"}`, `[${params.ids}]`, `{"a": 1, ${params.s}}`, `{${params.s}}`,
		`{"a": 1 ${params.s}}`, `{"a": 1${params.s}}`,
	} {
		_, err := placeholder.Expand(body, values, placeholder.Body("", body))
		require.ErrorContains(t, err, "set the header Content-Type", body)
	}
	late := `${params.begin}"b": 1}`
	_, err := placeholder.Expand(late, params(t, map[string]any{"begin": "{"}), placeholder.Body("", late))
	require.ErrorContains(t, err, "its values make this text JSON")
}

// A check of the definition finds what no value can mend, and takes what a value may make good.
func TestACheckKnowsWhichBodyCanNeverBeRight(t *testing.T) {
	t.Parallel()
	job := &entity.Job{ID: "j", Name: "nightly", Parameters: []entity.JobParameter{
		{Name: "n", Type: entity.ParameterInteger, Default: json.RawMessage("7")},
		{Name: "word", Type: entity.ParameterString, Default: json.RawMessage(`"abc"`)},
		{Name: "day", Type: entity.ParameterDate},
		{Name: "free", Type: entity.ParameterString},
	}}
	for body, good := range map[string]bool{
		`{"a": ${params.x}}`:                            true,
		`[${params.x}]`:                                 true,
		`{"a": ${secret.x}}`:                            true,
		`{"a": ${params.n}, "b": ${params.free}}`:       true,
		`{"a": ${params}, "b": "${checkpoint}"}`:        true,
		`{"a": ${params.x:-null}}`:                      true,
		`{"a": ${attempt}, "b": ${scheduledTime:yyyy}}`: true,
		`{"${params.x}": 1, "${secret.x}": 2}`:          true,
		`{"${executionId}": 1, "${checkpoint}": 2}`:     true,
		`${params.x}`:                                   true,
		"\n${executionId} ":                             true,
		`{"a": -${params.x}}`:                           false,
		`{"a": ${params.x}0}`:                           false,
		`{${params.x}}`:                                 false,
		`{"a": ${params.x:-abc}}`:                       false,
		`{"a": ${params.word}}`:                         false,
		`{"a": ${params.day}}`:                          false,
		`{"a": ${jobName}}`:                             false,
		`{"a": ${executionId}}`:                         false,
		`{"a": ${checkpoint}}`:                          false,
		`{"a": ${deadline}}`:                            false,
		`{"a": ${scheduledTime:yyyy-MM-dd}}`:            false,
		`{"a": "\${params.x}"}`:                         false,
	} {
		_, err := placeholder.Expand(body, placeholder.Samples(job), placeholder.Body("application/json", body))
		require.Equal(t, good, err == nil, "%s: %v", body, err)
	}
}

func TestABodyThatIsOnePlaceholderStaysRaw(t *testing.T) {
	t.Parallel()
	values := params(t, map[string]any{"s": evil})
	for _, media := range []string{
		"", "application/json", "application/x-ndjson", "application/x-www-form-urlencoded", "application/xml",
		"multipart/form-data; boundary=cut", "text/plain",
	} {
		body := " ${params.s}\n"
		got, err := placeholder.Expand(body, values, placeholder.Body(media, body))
		require.NoError(t, err)
		require.Equal(t, " "+evil+"\n", got)
	}
}

func TestTextsOfOtherTypesStayRaw(t *testing.T) {
	t.Parallel()
	values := params(t, map[string]any{"s": evil, "n": 5})
	for _, c := range []struct{ media, body, want string }{
		{"text/plain", "[${params.s}]", "[" + evil + "]"},
		{"text/csv", "a,${params.n}", "a,5"},
		{"", "[INFO] ${params.s} done", "[INFO] " + evil + " done"},
		{"", "${params.n}${params.n}", "55"},
		{"", "a=${params.s}", "a=" + evil},
		{"application/graphql", `{ user(id: ${params.n}) { name } }`, `{ user(id: 5) { name } }`},
		{"", `{ user(id: ${params.n}) { name } }`, `{ user(id: 5) { name } }`},
	} {
		got, err := placeholder.Expand(c.body, values, placeholder.Body(c.media, c.body))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

func TestEachValueKeepsItsPlaceInAForm(t *testing.T) {
	t.Parallel()
	values := params(t, map[string]any{"s": evil, "k": "a=b&c", "e": "", "u": "é +%"})
	body := "a=1&s=${params.s}&${params.k}=${params.e}&u=<${params.u}>&all=${params}&b=2"
	got, err := placeholder.Expand(body, values, placeholder.Body("application/x-www-form-urlencoded;charset=utf-8", body))
	require.NoError(t, err)
	fields, err := url.ParseQuery(got)
	require.NoError(t, err)
	all, err := placeholder.Expand("${params}", values, placeholder.Raw)
	require.NoError(t, err)
	require.Equal(t, url.Values{
		"a": {"1"}, "s": {evil}, "a=b&c": {""}, "u": {"<é +%>"}, "all": {all}, "b": {"2"},
	}, fields)
}

func TestEachValueKeepsItsPlaceInXML(t *testing.T) {
	t.Parallel()
	values := params(t, map[string]any{
		"s": evil, "n": "item", "bad": "\x01", "end": "a]]", "close": "]>", "dash": "a-b", "gt": ">",
	})
	body := `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE r SYSTEM "x>"><!-- ${params.dash} -->` +
		`<r a="${params.s}" b='${params.s}' c = "'>${params.s}"><${params.n} d="1">${params.s}</${params.n}>` +
		`<![CDATA[<${params.s}]]><t><![CDATA[${params.end}]]]><![CDATA[]${params.close}${params.end}>]]></t></r>`
	got, err := placeholder.Expand(body, values, placeholder.Body("application/soap+xml; charset=utf-8", body))
	require.NoError(t, err)
	var r struct {
		A    string `xml:"a,attr"`
		B    string `xml:"b,attr"`
		C    string `xml:"c,attr"`
		Item struct {
			D    string `xml:"d,attr"`
			Text string `xml:",chardata"`
			Sub  []any  `xml:",any"`
		} `xml:"item"`
		T    string `xml:"t"`
		Text string `xml:",chardata"`
	}
	require.NoError(t, xml.Unmarshal([]byte(got), &r), got)
	lines := strings.ReplaceAll(evil, "\r\n", "\n") // readers of XML end lines so in a section (XML 1.0, 2.11)
	require.Equal(t, []string{evil, evil, "'>" + evil}, []string{r.A, r.B, r.C})
	require.Equal(t, []any{"1", evil, 0}, []any{r.Item.D, r.Item.Text, len(r.Item.Sub)})
	require.Equal(t, "a]]]]]>a]]>", r.T)
	require.Equal(t, "<"+lines, r.Text)
	for _, c := range []struct{ body, message string }{
		{`<a>${params.bad}</a>`, "a character that XML cannot carry"},
		{`<a ${params.s}/>`, "is no name"},
		{`<${params.s}/>`, "is no name"},
		{`<a b=${params.s}/>`, "is no name"},
		{`<?xml version="${params.s}"?>`, "is no name"},
		{`<!-- ${params.s} -->`, "would end the comment"},
		{`<!-- -${params.gt} -->`, "would end the comment"},
		{`<!${params.n}>`, "where XML takes no value"},
		{`<!DOCTYPE ${params.n}>`, "where XML takes no value"},
		{`<!DOCTYPE a [<!ENTITY b "${params.n}">]>`, "where XML takes no value"},
		{`<!DOCTYPE a [<${params.n}>]>`, "where XML takes no value"},
		{`<!DOCTYPE a [<!-- " -->${params.n}]>`, "where XML takes no value"},
		{`<!-${params.dash}`, "where XML takes no value"},
	} {
		for _, media := range []string{"text/xml", "application/xml", "application/atom+xml"} {
			_, err := placeholder.Expand(c.body, values, placeholder.Body(media, c.body))
			require.ErrorContains(t, err, c.message, c.body)
		}
	}
}

func TestEachValueKeepsItsPlaceInParts(t *testing.T) {
	t.Parallel()
	values := params(t, map[string]any{"s": "a\"\r\nX: y\r\n\r\nz", "cut": "--cut", "c": "cut"})
	body := "--cut\r\nContent-Disposition: form-data; name=\"f\"; filename=\"${params.s}\"\r\n\r\n${params.s}\r\n" +
		"--cut\r\nContent-Disposition: form-data; name=\"g\"\r\n\r\n${executionId}\r\n--cut--\r\n"
	media := "multipart/form-data; boundary=cut"
	got, err := placeholder.Expand(body, values, placeholder.Body(media, body))
	require.NoError(t, err)
	reader := multipart.NewReader(strings.NewReader(got), "cut")
	part, err := reader.NextPart()
	require.NoError(t, err)
	require.Equal(t, []string{"f", "a%22%0D%0AX: y%0D%0A%0D%0Az"}, []string{part.FormName(), part.FileName()})
	require.Len(t, part.Header, 1)
	text, err := io.ReadAll(part)
	require.NoError(t, err)
	require.Equal(t, "a\"\r\nX: y\r\n\r\nz", string(text))
	part, err = reader.NextPart()
	require.NoError(t, err)
	require.Equal(t, "g", part.FormName())
	_, err = reader.NextPart()
	require.ErrorIs(t, err, io.EOF)
	for _, body := range []string{
		"--cut\r\nA: b\r\n\r\n${params.cut}\r\n--cut--", "--cut\r\nA: b\r\n\r\n--${params.c}\r\n--cut--",
	} {
		_, err := placeholder.Expand(body, values, placeholder.Body(media, body))
		require.ErrorContains(t, err, "holds the boundary")
	}
}
