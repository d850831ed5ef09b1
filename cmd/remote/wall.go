package remote

import (
	"strings"
	"time"
)

// WallMoment sends a time that somebody typed, as Moment does. A time of the clock that the zone of the job leaves out
// is
// sent as it is, because the server can say what runs instead.
func WallMoment(k *Call, in Input) (any, error) {
	zone, err := time.LoadLocation(k.ZoneName)
	if err != nil || k.ZoneName == "" {
		return Moment(k, in)
	}
	for _, layout := range layouts {
		wall, err := time.Parse(layout, in.Text)
		if err != nil {
			continue
		}
		if strings.HasPrefix(layout, "15") {
			now := k.Clock.Now().In(zone)
			wall = time.Date(now.Year(), now.Month(), now.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, time.UTC)
		}
		at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
		if k.Location() == time.UTC || at.Format(time.DateTime) == wall.Format(time.DateTime) {
			break
		}
		k.Notef("%s is taken in the zone %s: %s", in.Flag, zone, wall.Format(time.DateTime))
		return wall.Format("2006-01-02T15:04:05"), nil
	}
	return Moment(k, in)
}
