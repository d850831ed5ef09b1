package request

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// GroupBody is the body of POST /groups.
type GroupBody struct {
	Name string `json:"name" maxLength:"100"`
	GroupSettings
}

// GroupChange is the body of PUT /groups/{name}. A name must be that of the group.
type GroupChange struct {
	Name *string `json:"name,omitempty"`
	GroupSettings
}

// GroupSettings is what both have in common.
type GroupSettings struct {
	// MaxConcurrency is how many fires of its jobs may run at once; 0 is any number.
	MaxConcurrency int `json:"maxConcurrency,omitempty" minimum:"0" maximum:"10000"`
	// Version is that of the group that was read, for edits; a stale one is refused. Without one
	// and without If-Match the last edit wins.
	Version     int       `json:"version,omitempty"`
	Paused      bool      `json:"paused,omitempty" readonly:"true"`
	Settled     bool      `json:"settled,omitempty" readonly:"true"`
	PausedAt    time.Time `json:"pausedAt,omitempty" format:"date-time" readonly:"true"`
	PausedUntil time.Time `json:"pausedUntil,omitempty" format:"date-time" readonly:"true"`
	PauseReason string    `json:"pauseReason,omitempty" readonly:"true"`
	PauseUser   string    `json:"pauseUser,omitempty" readonly:"true"`
	CreateTime  time.Time `json:"createTime,omitempty" format:"date-time" readonly:"true"`
	UpdateTime  time.Time `json:"updateTime,omitempty" format:"date-time" readonly:"true"`
}

// ReadGroup reads the body of POST /groups.
func ReadGroup(r *http.Request) (GroupBody, error) { return readBody[GroupBody](r, nil) }

// ReadGroupChange reads the body of PUT /groups/{name}. A group cannot be
// renamed: jobs name it.
func ReadGroupChange(r *http.Request, name string) (GroupSettings, error) {
	body, err := readBody(r, func(body *GroupChange, f *faults) {
		if or(body.Name, name) != name {
			f.add("name", "unchangeable", "a group cannot be renamed: make another one and copy the jobs to it")
		}
	})
	return body.GroupSettings, err
}

// EditFailed is the error of an edit. One of a stale version that If-Match has named does not meet the precondition.
func EditFailed(err error, ifMatch bool) error {
	var f *apperror.Error
	if ifMatch && errors.As(err, &f) && f.Code == "stale_version" {
		return apperror.New(apperror.KindPrecondition, "version_mismatch", err.Error())
	}
	return err
}

// VersionMismatch is the answer to an If-Match that does not hold.
func VersionMismatch(what string, now, ifMatch int) error {
	return apperror.New(apperror.KindPrecondition, "version_mismatch",
		fmt.Sprintf("the %s is at version %d, not %d: read it again", what, now, ifMatch))
}
