package job

import (
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// definitionJSON is how a version of a job is kept: the user's part of it.
func definitionJSON(j *entity.Job) (string, error) {
	kept := *j
	kept.Type = entity.JobType(storedType(j.Type))
	b, err := json.Marshal(kept)
	return string(b), err
}

// definitionOf reads the user's part of a job; what cannot be read is in Unread.
func definitionOf(text string) *entity.Job {
	var unread []entity.Unread
	j := sqlvalue.ReadJSON[entity.Job]("definition", text, &unread)
	j.Type, j.Unread = TypeOf(string(j.Type)), unread
	return &j
}
