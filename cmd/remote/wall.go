package remote

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/civil"
)

// WallMoment sends a time that somebody typed, as Moment does. A time that the clocks of the job's zone leave out is
// sent as it is, because the server can say what runs instead.
func WallMoment(k *Call, in Input) (any, error) {
	zone, err := time.LoadLocation(k.ZoneName)
	if err != nil || k.ZoneName == "" || k.Location() == time.UTC {
		return Moment(k, in)
	}
	typed, ok := k.civil(in.Text, zone)
	if !ok || civil.Of(typed.In(zone)) == typed {
		return Moment(k, in)
	}
	k.Notef("%s is taken in the zone %s: %s", in.Flag, zone, typed.UTC().Format(time.DateTime))
	return typed.UTC().Format("2006-01-02T15:04:05"), nil
}
