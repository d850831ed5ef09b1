package api_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
)

// Managers of users see the settings of a node, and nobody else does.
func TestTheSettingsOfTheNodeAreShown(t *testing.T) {
	const path = "/api/v1/settings"
	e := newEdge(t)
	e.rebuild(func(d *api.Deps) {
		d.Settings = vo.Settings{NodeID: "n1", Items: []vo.Setting{{
			Name: "engine.batchSize", Variable: "PS_ENGINE_BATCH_SIZE", Value: 7, Source: "FILE", Takes: "1 to 10",
			Meaning: "jobs of a batch",
		}, {Name: "redis.password", Variable: "PS_REDIS_PASSWORD", Value: "******", Secret: true, Source: "ENVIRONMENT"}}}
	})
	require.JSONEq(t, `{"nodeId":"n1","items":[
		{"name":"engine.batchSize","variable":"PS_ENGINE_BATCH_SIZE","value":7,"secret":false,"source":"FILE",
			"takes":"1 to 10","meaning":"jobs of a batch"},
		{"name":"redis.password","variable":"PS_REDIS_PASSWORD","value":"******","secret":true,"source":"ENVIRONMENT",
			"takes":"","meaning":""}]}`, e.call("GET", path, "").want(200).body)
	e.call("GET", path, "", as(userAdminToken)...).want(200)
	for _, token := range []string{operatorToken, viewerToken, boundToken, keeperToken, apiToken} {
		e.call("GET", path, "", as(token)...).wantCode(403, "forbidden")
	}
	e.call("GET", path, "", "Authorization", "").want(401)
	e.rebuild(func(d *api.Deps) { d.Settings = vo.Settings{NodeID: "n1"} })
	require.Equal(t, "[]", fmt.Sprint(e.call("GET", path, "").want(200).json()["items"]))
}
