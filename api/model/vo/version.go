package vo

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// JobVersion is the definition of a job under one of its versions.
type JobVersion struct {
	Version    int  `json:"version"`
	CreateTime Time `json:"createTime" format:"date-time"`
	// CreatedBy is the user who made it; empty where it is not known.
	CreatedBy string `json:"createdBy"`
	// Definition is what PUT takes.
	Definition Job `json:"definition"`
	// Changes holds [before, after] by field against the version before it;
	// null for the oldest of the page.
	Changes map[string][2]any `json:"changes" extensions:"x-nullable"`
}

// FromVersion makes the view of a version.
func FromVersion(j *entity.Job) JobVersion {
	return JobVersion{Version: j.Version, CreateTime: Time(j.UpdateTime), CreatedBy: j.ChangedBy, Definition: FromJob(j)}
}
