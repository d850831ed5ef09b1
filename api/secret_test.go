package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const secrets = "/api/v1/secrets"

func TestSecretsAreWrittenAndNeverRead(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", secrets, `{"name":"DB","description":"d","value":"hunter2"}`).want(201)
	require.Equal(t, secrets+"/DB", a.header.Get("Location"))
	require.Equal(t, `"1"`, a.header.Get("ETag"))
	require.JSONEq(t, `{"name":"DB","description":"d","groups":null,"version":1,"createTime":"2026-11-20T12:00:00.000Z","updateTime":"2026-11-20T12:00:00.000Z"}`, a.body)
	list := e.call("GET", secrets, "").want(200)
	require.Len(t, list.json()["items"], 1)
	require.NotContains(t, a.body+list.body+e.log.String(), "hunter2")

	e.call("POST", secrets, `{"name":"DB","value":"hunter3"}`).wantCode(409, "name_taken")
	e.call("PUT", secrets+"/DB", `{"value":"hunter3","version":1}`).want(200)
	e.call("PUT", secrets+"/DB", `{"value":"hunter4","version":1}`).wantCode(409, "stale_version")
	e.call("PUT", secrets+"/DB", `{"value":"hunter4"}`, "If-Match", `"1"`).wantCode(412, "version_mismatch")
	a = e.call("PUT", secrets+"/DB", `{"value":"hunter4"}`, "If-Match", `"2"`).want(200)
	require.Equal(t, `"3"`, a.header.Get("ETag"))
	e.call("PUT", secrets+"/DB",
		`{"name":"DB","value":"hunter5","version":3,"createTime":"2026-11-20T12:00:00.000Z","updateTime":"2026-11-20T12:00:00.000Z"}`).want(200)
	e.call("PUT", secrets+"/NONE", `{"value":"hunter4","version":1}`).wantCode(404, "not_found")
	e.call("DELETE", secrets+"/DB", "").want(204)
	e.call("DELETE", secrets+"/DB", "").wantCode(404, "not_found")
	require.NotContains(t, e.log.String(), "hunter")
}

func TestSecretsOfTheWrongShapeAreRefused(t *testing.T) {
	e := newEdge(t)
	e.call("POST", secrets, `{"name":"a b","value":"x"}`).wantField(422, "name", "invalid")
	e.call("POST", secrets, `{"name":"a b","value":"x"}`).wantField(422, "value", "out_of_range")
	e.call("POST", secrets, `{"name":"a","value":7}`).wantField(422, "value", "wrong_type")
	e.call("POST", secrets, `{"name":"a","value":"123456","keyId":"k"}`).wantField(422, "keyId", "unknown_field")
	e.call("PUT", secrets+"/a", `{"value":"123456"}`).wantField(422, "version", "required")
	e.call("PUT", secrets+"/a", `{"value":"123456","version":2}`, "If-Match", `"1"`).wantField(422, "version", "conflict")
	a := e.call("POST", secrets, `{"name":"a","value":"`+strings.Repeat("hunter2", 10_000)+`"}`)
	a.wantField(422, "value", "out_of_range")
	require.NotContains(t, a.body, "hunter2")
}

// The groups of a secret decide who sees, uses and writes it.
func TestSecretsBelongToGroups(t *testing.T) {
	e := newEdge(t)
	keeper := as(keeperToken) // an operator of mine, who may read in shown, with the right to secrets
	e.call("POST", secrets, `{"name":"ALL","value":"hunter2"}`).want(201)
	e.call("POST", secrets, `{"name":"THEIRS","value":"hunter2","groups":["theirs"]}`).want(201)
	e.call("POST", secrets, `{"name":"SHOWN","value":"hunter2","groups":["shown"]}`).want(201)
	e.call("POST", secrets, `{"name":"BOTH","value":"hunter2","groups":["theirs","mine"]}`).want(201)

	a := e.call("POST", secrets, `{"name":"MINE","value":"hunter2","groups":["mine","mine"]}`, keeper...).want(201)
	require.Equal(t, []any{"mine"}, a.json()["groups"])
	for name, groups := range map[string]string{
		"for all": `null`, "for all by an empty list": `[]`,
		"where the user may only read": `["shown"]`, "of others": `["theirs"]`, "of others too": `["mine","theirs"]`,
	} {
		require.Equal(t, 403, e.call("POST", secrets, `{"name":"X","value":"hunter2","groups":`+groups+`}`, keeper...).status,
			name)
	}
	taken := e.call("POST", secrets, `{"name":"THEIRS","value":"hunter2","groups":["mine"]}`, keeper...)
	taken.wantCode(409, "name_taken")
	require.NotContains(t, taken.body, "theirs")

	var seen []string
	list := e.call("GET", secrets, "", keeper...).want(200)
	for _, item := range list.json()["items"].([]any) {
		seen = append(seen, fmt.Sprint(item.(map[string]any)["name"]))
	}
	require.ElementsMatch(t, []string{"ALL", "MINE", "BOTH"}, seen)
	require.NotContains(t, list.body, "theirs", "nor the names of other groups")
	require.Len(t, e.call("GET", secrets, "").want(200).json()["items"], 5)
	require.Len(t, e.call("GET", secrets, "", as(operatorToken)...).want(200).json()["items"], 5,
		"who is bound to no groups sees all")

	e.call("PUT", secrets+"/MINE", `{"value":"hunter3","version":1}`, keeper...).want(200)
	require.Equal(t, []any{"mine"}, e.call("PUT", secrets+"/MINE", `{"description":"d","version":2}`,
		keeper...).want(200).json()["groups"], "what is not given stays")
	e.about("MINE", "MINE", `{"description":["","d"]}`)
	e.call("PUT", secrets+"/MINE", `{"groups":["mine","theirs"],"version":3}`, keeper...).wantCode(403, "forbidden")
	e.call("PUT", secrets+"/MINE", `{"groups":[],"version":3}`, keeper...).wantCode(403, "forbidden")
	e.call("PUT", secrets+"/THEIRS", `{"value":"hunter3","version":1}`, keeper...).wantCode(404, "not_found")
	e.call("DELETE", secrets+"/SHOWN", "", keeper...).wantCode(404, "not_found")
	e.call("PUT", secrets+"/BOTH", `{"value":"hunter3","version":1}`, keeper...).wantCode(403, "forbidden")
	e.call("DELETE", secrets+"/ALL", "", keeper...).wantCode(403, "forbidden")
	e.call("DELETE", secrets+"/MINE", "", keeper...).want(204)
	e.call("POST", secrets, `{"name":"a","value":"123456","groups":["a b"]}`).wantField(422, "groups[0]", "invalid")
	e.call("POST", secrets, `{"name":"a","value":"123456","groups":"mine"}`).wantField(422, "groups", "wrong_type")

	e.call("PUT", secrets+"/BOTH", `{"groups":["mine"],"version":1}`).want(200)
	e.about("BOTH", "BOTH", `{"groups":[["mine","theirs"],["mine"]]}`)
	require.Nil(t, e.call("PUT", secrets+"/BOTH", `{"groups":[],"version":2}`).want(200).json()["groups"])
	require.NotContains(t, e.log.String(), "hunter")
}

// An edit does not silently take a secret from jobs that name it.
func TestAnEditNamesTheJobsThatWouldLoseTheSecret(t *testing.T) {
	e := newEdge(t)
	e.call("POST", secrets, `{"name":"DB","value":"hunter2"}`).want(201)
	naming := fields{
		"jobType": "HTTP", "jobClass": "",
		"jobData": fields{"url": "http://h", "headers": fields{"Authorization": "${secret.DB}"}},
	}
	var first string
	for i := range 60 {
		id := e.create(encode(t,
			minimal().with(naming).with(fields{"name": fmt.Sprint("settle ", i), "group": "risk"})))["id"].(string)
		if i == 0 {
			first = id
		}
		e.Clock.Advance(time.Millisecond) // ids are ordered by it
	}
	e.create(encode(t, minimal().with(naming).with(fields{"group": "pay"})))
	a := e.call("PUT", secrets+"/DB", `{"groups":["pay"],"version":1}`)
	a.want(409)
	body := a.json()
	require.Equal(t, "secret_in_use", body["code"])
	require.Contains(t, body["detail"], "more than 50")
	require.Len(t, body["errors"], 50)
	require.Contains(t, a.body, "risk/settle 0 ("+first+")")
	e.call("PUT", secrets+"/DB", `{"groups":["pay","risk"],"version":1}`).want(200)
	e.call("PUT", secrets+"/DB", `{"groups":["pay"],"version":2,"force":true}`).want(200)
	e.call("PUT", secrets+"/DB", `{"groups":["pay","ops"],"version":3}`).want(200)
}

func TestOnlyAdminsWriteSecrets(t *testing.T) {
	e := newEdge(t)
	for token, status := range map[string]int{adminToken: 201, operatorToken: 403, viewerToken: 403} {
		e.call("POST", secrets, `{"name":"DB","value":"hunter2"}`, "Authorization", "Bearer "+token).want(status)
	}
	for token, status := range map[string]int{adminToken: 200, operatorToken: 200, viewerToken: 403} {
		e.call("GET", secrets, "", "Authorization", "Bearer "+token).want(status)
	}
}

func TestJobsThatNameASecretAreListed(t *testing.T) {
	e := newEdge(t)
	e.call("POST", secrets, `{"name":"DB","value":"hunter2"}`).want(201)
	require.Equal(t, fields{"items": []any{}, "more": false},
		fields(e.call("GET", secrets+"/DB/uses", "").want(200).json()))
	naming := fields{
		"jobType": "HTTP", "jobClass": "",
		"jobData": fields{"url": "http://h", "headers": fields{"Authorization": "${secret.DB}"}},
	}
	for i, group := range []string{"mine", "theirs"} {
		e.create(encode(t, minimal().with(naming).with(fields{"name": fmt.Sprint("settle ", i), "group": group})))
		e.Clock.Advance(time.Millisecond) // ids are ordered by it
	}
	e.create(encode(t, minimal().with(fields{"name": "names none"})))
	names := func(headers ...string) (out []any) {
		for _, use := range e.call("GET", secrets+"/DB/uses", "", headers...).want(200).json()["items"].([]any) {
			out = append(out, use.(map[string]any)["name"])
		}
		return out
	}
	require.Equal(t, []any{"settle 0", "settle 1"}, names())
	require.Equal(t, []any{"settle 0"}, names("Authorization", "Bearer "+keeperToken), "of the groups of the caller")
	e.call("GET", secrets+"/NONE/uses", "").wantCode(404, "not_found")
	e.call("GET", secrets+"/DB/uses", "", "Authorization", "Bearer "+viewerToken).wantCode(403, "forbidden")
	e.call("POST", secrets, `{"name":"THEIRS","value":"hunter2","groups":["theirs"]}`).want(201)
	e.call("GET", secrets+"/THEIRS/uses", "", "Authorization", "Bearer "+keeperToken).wantCode(404, "not_found")

	for i := range 100 {
		e.create(encode(t, minimal().with(naming).with(fields{"name": fmt.Sprint("more ", i), "group": "mine"})))
		e.Clock.Advance(time.Millisecond)
	}
	whole := e.call("GET", secrets+"/DB/uses", "").want(200).json()
	require.Len(t, whole["items"], 100)
	require.Equal(t, true, whole["more"])
}
