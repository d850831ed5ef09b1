package remote

import (
	"strings"
	"time"
)

// WallMoment sends a time that somebody typed. One without a zone is sent as a time of the clock in the zone of the job,
// because the server can say more of one that does not exist.
func WallMoment(k *Call, in Input) (any, error) {
	zone, err := time.LoadLocation(k.ZoneName)
	if err != nil || k.ZoneName == "" || k.Location() == time.UTC {
		return Moment(k, in)
	}
	for _, layout := range layouts {
		t, err := time.Parse(layout, in.Text)
		if err != nil {
			continue
		}
		if strings.HasPrefix(layout, "15") {
			now := k.Clock.Now().In(zone)
			t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
		}
		k.Notef("%s is taken in the zone %s: %s", in.Flag, zone, t.Format(time.DateTime))
		return t.Format("2006-01-02T15:04:05"), nil
	}
	return Moment(k, in)
}
