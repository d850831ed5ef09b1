package job

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// EnabledSchedules implements repository.ScheduleReader. A schedule comes as one text: a driver takes as long for each
// column of a row as for the row, and most jobs share their schedule with others, so that few texts are read.
func (r *Plans) EnabledSchedules(ctx context.Context, q repository.ScheduleQuery) ([]repository.Planned, error) {
	if sqlvalue.HasTrailingSpace(q.Group) { // no group is named like that
		return nil, nil
	}
	where, args := " WHERE status = 'ENABLED' AND deleted = 0", []any{}
	if q.Group != "" {
		where, args = where+" AND group_name = ?", append(args, q.Group)
	}
	if q.Groups != nil {
		in, groups := r.c.Dialect.InAny("group_name", q.Groups)
		where, args = where+" AND "+in, append(args, groups...)
	}
	reader := newSpecReader()
	id := "CASE WHEN jitter_ms > 0 THEN id END"
	if q.IDs {
		id = "id"
	}
	table := "scheduler_job_definition"
	if r.c.Dialect.IsSQLite() {
		table += " NOT INDEXED" // the rows as they lie: an index looks each of them up
	}
	return sqldb.Collect(ctx, r.c, "job.schedules", "SELECT "+id+", "+
		"CASE WHEN schedule_kind = 'FIXED_DELAY' THEN next_fire_time END, "+reader.text()+" FROM "+table+where+" LIMIT ?",
		append(args, q.Limit), reader.scan)
}

// specReader reads schedules that come as one text.
type specReader struct {
	row    jobRow
	names  []string
	fields []any
	// known are the schedules of the texts so far.
	known map[string]*schedule.Spec
}

// between separates the columns of a schedule. No column holds it: texts of schedules have no control characters.
const between = "\x1f"

func newSpecReader() *specReader {
	r := &specReader{known: map[string]*schedule.Spec{}}
	r.row.columns(func(name string, at any, of jobReads) {
		if of&timed != 0 && name != "id" && name != "next_fire_time" {
			r.names, r.fields = append(r.names, name), append(r.fields, at)
		}
	})
	return r
}

// text is the expression of the columns as one text. The anchor of a cron means nothing, and would keep its text apart.
func (r *specReader) text() string {
	parts := make([]string, len(r.names))
	for i, name := range r.names {
		if name == "anchor_time" {
			name = "CASE WHEN schedule_kind <> 'CRON' OR cron_expression LIKE '@%' THEN anchor_time END"
		}
		parts[i] = "COALESCE(" + name + ", '')"
	}
	return "CONCAT_WS(CHAR(31), " + strings.Join(parts, ", ") + ")"
}

func (r *specReader) scan(rows *sql.Rows) (p repository.Planned, err error) {
	var text sql.RawBytes
	var id sqlvalue.OptionalText
	var next sqlvalue.DBTime
	if err = rows.Scan(&id, &next, &text); err != nil {
		return p, err
	}
	p.ID, p.Next, p.Schedule = string(id), next.Time(), r.known[string(text)]
	if p.Schedule != nil {
		return p, nil
	}
	spec, err := r.read(string(text))
	if err != nil {
		return p, fmt.Errorf("read the schedule of a job: %w", err)
	}
	r.known[string(text)], p.Schedule = spec, spec
	return p, nil
}

func (r *specReader) read(text string) (*schedule.Spec, error) {
	values := strings.Split(text, between)
	if len(values) != len(r.fields) {
		return nil, fmt.Errorf("it has %d parts of %d", len(values), len(r.fields))
	}
	r.row.Schedule = schedule.Spec{}
	for i, at := range r.fields {
		if values[i] == "" {
			continue
		}
		var err error
		switch at := at.(type) {
		case *string:
			*at = values[i]
		case *int64:
			*at, err = strconv.ParseInt(values[i], 10, 64)
		case sql.Scanner:
			err = at.Scan(values[i])
		default:
			err = fmt.Errorf("it is a %T", at)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.names[i], err)
		}
	}
	spec := r.row.Schedule
	return &spec, nil
}
