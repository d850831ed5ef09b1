// Package maximal makes definitions at the edge of what validation takes, drawn from the table of bounds: each text in
// scripts of one, three and four bytes, and in letters that JSON writes with six.
package maximal

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Scripts are letters of which texts are made, as few as a name allows: Latin, Chinese, and one beyond the basic plane.
func Scripts() []string { return []string{"w", "组", "\U00020000"} }

// Shards are the numbers of shards at which readers reach their bounds.
func Shards() []int { return []int{1, 2, 333, 1024} }

// Fields are the names of the fields that Job fills, as in bounds.Table.
func Fields() []string {
	return []string{"name", "description", "group", "owner", "jobClass", "jobData", "labels", "routing.labels", "alerts"}
}

// Job makes the texts of a job maximal, in the n-th script. Its name ends with n, so that names differ.
func Job(j *entity.Job, n int) {
	letter := Scripts()[n%len(Scripts())]
	end := fmt.Sprintf("-%d", n)
	j.Name = strings.Repeat(letter, bounds.Name-len(end)) + end
	j.Description = strings.Repeat(letter, bounds.Description)
	j.Group = strings.Repeat(letter, bounds.Group)
	j.Owner = strings.Repeat(letter, bounds.Owner)
	j.Class = strings.Repeat(letter, bounds.Class)
	j.Data = `{"a":"` + strings.Repeat("x", bounds.DataBytes-len(`{"a":""}`)) + `"}`
	j.Labels = Labels(bounds.LabelBytes)
	j.Routing.Labels = Labels(bounds.FormerLabelBytes)
	j.Alerts = entity.JobAlerts{
		OnFailure: channels(letter), OnSuccess: channels(letter), OnEnd: channels(letter), OnLate: channels(letter),
		OnRecovered: channels(letter),
	}
	j.ShardCount = Shards()[n%len(Shards())]
}

// channels are the most names of channels, each of the most letters.
func channels(letter string) []string {
	out := make([]string, bounds.Channels)
	for i := range out {
		end := fmt.Sprintf("-%02d", i)
		out[i] = strings.Repeat(letter, bounds.Name-len(end)) + end
	}
	return out
}

// Labels are the most entries, of letters that JSON writes with six bytes, and have at most so many bytes as JSON.
func Labels(most int) map[string]string {
	out := map[string]string{}
	size, each := len("{}"), most/bounds.Labels
	for i := range bounds.Labels {
		key := fmt.Sprintf("%02d", i) + strings.Repeat("&", min(bounds.LabelKey-2, max(each/12-3, 0)))
		value := strings.Repeat("<", bounds.LabelValue)
		for len(value) > 0 && size+bytesOf(key, value) > min(most, (i+1)*each) {
			value = value[1:]
		}
		size += bytesOf(key, value)
		out[key] = value
	}
	return out
}

func bytesOf(key, value string) int {
	data, _ := json.Marshal(map[string]string{key: value}) // texts always marshal
	return len(data) - len("{}") + len(",")
}
