package jobdata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

func values() *placeholder.Values {
	run := executortest.NewRun(entity.JobCustom, "", "")
	run.Execution.Params = `{"name":"o'hara","long":"0123456789"}`
	return placeholder.Of(run)
}

func read(data string) *jobdata.Reader { return jobdata.Read(data, values()) }

func TestReaderReadsFields(t *testing.T) {
	r := read(` {"t":"é","n":-3,"b":true,"m":{"a":"1","b":""},"l":["x","y"],"z":null,
		"numbers":{"a":1.10,"b":true,"c":-1e2,"d":12345678901234567890},"items":["sleep",5,false],"status":200,"off":false,"text":"x"} `)
	require.Equal(t, "é", r.Text("t", 2))
	require.Equal(t, int64(-3), r.Integer("n", -3, 3))
	require.True(t, r.Boolean("b"))
	require.Equal(t, map[string]string{"a": "1", "b": ""}, r.Texts("m"))
	require.True(t, r.IsList("l"))
	require.False(t, r.IsList("m"))
	require.Equal(t, []string{"x", "y"}, r.List("l", 2))
	require.Equal(t, map[string]string{"a": "1.10", "b": "true", "c": "-1e2", "d": "12345678901234567890"},
		r.Texts("numbers"))
	require.Equal(t, []string{"sleep", "5", "false"}, r.List("items", 3))
	require.Equal(t, []string{"200", "false", "x"}, []string{
		r.Scalar("status", 3), r.Scalar("off", 5),
		r.Scalar("text", 1),
	})
	require.Empty(t, r.Scalar("z", 1))
	require.Empty(t, r.Text("z", 1))
	require.Empty(t, r.Text("absent", 1))
	require.Zero(t, r.Integer("absent", 1, 2))
	require.Nil(t, r.Texts("absent"))
	require.Nil(t, r.List("absent", 1))
	require.Empty(t, r.End())
	require.Empty(t, read("").End())
	require.Empty(t, read("null").End())
}

func TestReaderNamesEverythingThatIsWrong(t *testing.T) {
	text := func(r *jobdata.Reader) { r.Text("f", 3) }
	number := func(r *jobdata.Reader) { r.Integer("f", 0, 10) }
	texts := func(r *jobdata.Reader) { r.Texts("f") }
	list := func(r *jobdata.Reader) { r.List("f", 2) }
	boolean := func(r *jobdata.Reader) { r.Boolean("f") }
	cases := []struct {
		name, value string
		read        func(r *jobdata.Reader)
		field, code string
	}{
		{"number for text", `1`, text, "jobData.f", "wrong_type"},
		{"long text", `"abcd"`, text, "jobData.f", "too_long"},
		{"text for number", `"1"`, number, "jobData.f", "wrong_type"},
		{"true for number", `true`, number, "jobData.f", "wrong_type"},
		{"fraction", `1.5`, number, "jobData.f", "not_an_integer"},
		{"exponent", `1e2`, number, "jobData.f", "not_an_integer"},
		{"infinite", `1e309`, number, "jobData.f", "not_an_integer"},
		{"negative", `-1`, number, "jobData.f", "out_of_range"},
		{"2^63", `9223372036854775808`, number, "jobData.f", "out_of_range"},
		{"list for object", `["a"]`, texts, "jobData.f", "wrong_type"},
		{"object in object", `{"k":{}}`, texts, "jobData.f.k", "wrong_type"},
		{"list in object", `{"k":[1]}`, texts, "jobData.f.k", "wrong_type"},
		{"list for scalar", `[1]`, func(r *jobdata.Reader) { r.Scalar("f", 3) }, "jobData.f", "wrong_type"},
		{"long scalar", `1234`, func(r *jobdata.Reader) { r.Scalar("f", 3) }, "jobData.f", "too_long"},
		{"null in object", `{"k":null}`, texts, "jobData.f.k", "wrong_type"},
		{"control character in key", `{"k\n":{}}`, texts, `jobData.f."k\n"`, "wrong_type"},
		{"text for list", `"a"`, list, "jobData.f", "wrong_type"},
		{"object in list", `["a",{}]`, list, "jobData.f[1]", "wrong_type"},
		{"long list", `["a","b","c"]`, list, "jobData.f", "too_many"},
		{"text for boolean", `"true"`, boolean, "jobData.f", "wrong_type"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := read(`{"f":` + c.value + `}`)
			c.read(r)
			faults := r.End()
			require.Len(t, faults, 1)
			require.Equal(t, c.field, faults[0].Field)
			require.Equal(t, c.code, faults[0].Code)
			require.NotEmpty(t, faults[0].Message)
		})
	}
}

func TestReaderRefusesUnknownFields(t *testing.T) {
	r := read(`{"b":1,"a":2,"known":"x"}`)
	r.Text("known", 1)
	require.Equal(t, []apperror.Field{
		{Field: "jobData.a", Code: "unknown_field", Message: "is not a field of this kind of job; there are known"},
		{Field: "jobData.b", Code: "unknown_field", Message: "is not a field of this kind of job; there are known"},
	}, r.End())

	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `"%s%04d":1,`, strings.Repeat("é", 40), i)
	}
	text := "{" + strings.TrimSuffix(many.String(), ",") + "}"
	inside := read(`{"f":` + strings.ReplaceAll(text, ":1", ":[]") + "}")
	inside.Texts("f")
	require.Len(t, inside.End(), 100)
	faults := read(text).End()
	require.Len(t, faults, 21)
	require.LessOrEqual(t, len(faults[0].Field), 80)
	require.Equal(t, apperror.Field{Field: "jobData", Code: "unknown_field", Message: "has 980 more unknown fields"},
		faults[20])
}

func TestReaderRefusesWhatIsNoObject(t *testing.T) {
	for _, data := range []string{"[]", "1", `"a"`, "{", "{}{}", strings.Repeat("[", 100_000)} {
		faults := read(data).End()
		require.Len(t, faults, 1, "%.20s", data)
		require.Equal(t, "jobData", faults[0].Field)
	}
}

func TestTemplatesTakeTheValuesOfTheRun(t *testing.T) {
	r := read(`{"t":"<${params.name}>","wrong":"${params.none}","u":"http://h/${params.name}"}`)
	require.Equal(t, "<o'hara>", r.Template("t", 20, placeholder.Raw))
	require.Equal(t, "http://h/o%27hara", r.Template("u", 100, placeholder.URL))
	require.Equal(t, "<${params.name}>", r.Peek("t"))
	require.Empty(t, r.Template("wrong", 100, placeholder.Raw))
	faults := r.End()
	require.Len(t, faults, 1)
	require.Equal(t, "jobData.wrong", faults[0].Field)
	require.Equal(t, "invalid_placeholder", faults[0].Code)

	r = read(`{"t":"${params.name}"}`)
	require.Empty(t, r.Template("t", 5, placeholder.Raw))
	require.Equal(t, "too_long", r.End()[0].Code)
}

func TestExpandReplacesTextsHoweverDeep(t *testing.T) {
	plain := ` {"a" : 1.50} `
	got, faults := jobdata.Expand(plain, values())
	require.Empty(t, faults)
	require.Equal(t, plain, got, "data without placeholders is not touched")

	got, faults = jobdata.Expand(
		`{"a":["${params.name}",{"${params.name}":"$${x}"}],"n":12345678901234567890,"f":1.50,"z":null}`, values())
	require.Empty(t, faults)
	require.JSONEq(t, `{"a":["o'hara",{"${params.name}":"${x}"}],"n":12345678901234567890,"f":1.50,"z":null}`, got)

	_, faults = jobdata.Expand(`{"b":["x","${no}"],"a":{"k":"${params.none}"}}`, values())
	require.Len(t, faults, 2)
	require.Equal(t, "jobData.a.k", faults[0].Field)
	require.Equal(t, "jobData.b[1]", faults[1].Field)
	_, faults = jobdata.Expand(`["${attempt}"]`, values())
	require.Equal(t, "jobData", faults[0].Field)
}

func TestAFieldThatIsNotThereIsAnsweredWithThoseThatAre(t *testing.T) {
	r := read(`{"comand":["true"],"argv":1}`)
	r.List("command", 9)
	r.Text("script", 9)
	faults := r.End()
	require.Equal(t, []apperror.Field{
		{
			Field: "jobData.argv", Code: "unknown_field",
			Message: "is not a field of this kind of job; there are command, script",
		},
		{
			Field: "jobData.comand", Code: "unknown_field",
			Message: "is not a field of this kind of job; did you mean command?",
		},
	}, faults)
	faults = read(`{"x":1}`).End()
	require.Equal(t, "is not a field of this kind of job; it has none", faults[0].Message)
}
