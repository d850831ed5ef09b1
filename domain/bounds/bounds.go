// Package bounds is the one table of how long texts may be: what validation takes, what the store keeps of it and
// where, and what readers show. A test of each store compares it with the migrated schema, by storing the maximal
// value of each field and reading it back.
package bounds

// The bounds of texts of a definition, in characters; Labels and Channels count entries, DataBytes and LabelBytes
// bytes.
const (
	Name        = 100
	Description = 2000
	Group       = 100
	Owner       = 100
	Class       = 255
	WorkerGroup = 32
	Labels      = 64
	LabelKey    = 63
	LabelValue  = 255
	// LabelBytes bounds the labels of a job, as JSON.
	LabelBytes = 16 << 10
	DataBytes  = 64 << 10
	// WorkflowBytes bounds the data of a workflow, which hold its steps.
	WorkflowBytes = 512 << 10
	Channels      = 20
	// CronExpression and TimeZone count bytes: both are ASCII.
	CronExpression = 200
	TimeZone       = 64
	// ParametersBytes bounds the parameters that a job declares, and AlertsBytes these, the lists of those who are told,
	// and the deadline together, as JSON: one column has them.
	ParametersBytes = 16 << 10
	AlertsBytes     = 1<<16 - 1
	// NextBytes bounds what a job says of those that follow it, which has the same place.
	NextBytes = 32 << 10
	// ParamsBytes bounds the parameters of one run; the defaults of the job join them.
	ParamsBytes = 64 << 10

	// FormerLabelBytes is what an older release took of labels: 64 entries of which JSON writes each letter with six
	// bytes.
	FormerLabelBytes = Labels*(6*(LabelKey+LabelValue)+len(`"":"",`)) + len("{}")
	// ShownLabelBytes is what a message shows of the labels of an alert, as JSON.
	ShownLabelBytes = 1 << 10
	// utf8Most is how many bytes a character has at most.
	utf8Most = 4
)

// Row is where a field is stored.
type Row struct {
	// Field is its name in the API.
	Field string
	// Characters is how many of them validation takes; 0 where bytes alone are bounded.
	Characters int
	// Bytes is what the stored value has at most.
	Bytes         int
	Table, Column string
	// Shown is what readers show of it at most, in bytes; 0 is all.
	Shown int
}

// Table lists where each field of people is stored, also as a copy.
func Table() []Row {
	const (
		job      = "scheduler_job_definition"
		jobGroup = "scheduler_job_group"
		alert    = "scheduler_alert"
		sums     = "scheduler_scope_stat"
		setting  = "scheduler_alert_setting"
	)
	lists := 5 * (Channels*(6*Name+len(`"",`)) + len(`"onRecovered":[],`))
	return []Row{
		{Field: "name", Characters: Name, Bytes: Name * utf8Most, Table: job, Column: "name"},
		{Field: "description", Characters: Description, Bytes: Description * utf8Most, Table: job, Column: "description"},
		{Field: "group", Characters: Group, Bytes: Group * utf8Most, Table: job, Column: "group_name"},
		{Field: "group", Characters: Group, Bytes: Group * utf8Most, Table: jobGroup, Column: "name"},
		{Field: "group", Characters: Group, Bytes: Group * utf8Most, Table: alert, Column: "group_name"},
		{Field: "group", Bytes: Group * utf8Most, Table: sums, Column: "name"},
		{Field: "owner", Characters: Owner, Bytes: Owner * utf8Most, Table: job, Column: "owner"},
		{Field: "jobClass", Characters: Class, Bytes: Class * utf8Most, Table: job, Column: "job_class"},
		{Field: "jobData", Bytes: WorkflowBytes, Table: job, Column: "job_data"},
		{Field: "labels", Bytes: FormerLabelBytes, Table: job, Column: "labels"},
		// The labels of a rule join the labels of the job.
		{Field: "labels", Bytes: 2 * FormerLabelBytes, Table: alert, Column: "labels", Shown: ShownLabelBytes},
		{Field: "routing.labels", Bytes: FormerLabelBytes, Table: job, Column: "routing"},
		{Field: "routing.workers", Characters: WorkerGroup, Bytes: WorkerGroup, Table: job, Column: "routing"},
		{Field: "alerts", Bytes: lists, Table: job, Column: "alerts"},
		{Field: "deadline", Bytes: AlertsBytes, Table: job, Column: "alerts"},
		{Field: "parameters", Bytes: AlertsBytes, Table: job, Column: "alerts"},
		{Field: "next", Bytes: NextBytes, Table: job, Column: "alerts"},
		{Field: "parameters", Bytes: ParamsBytes + ParametersBytes, Table: "scheduler_job_execution", Column: "params"},
		{
			Field: "schedule.cronExpression", Characters: CronExpression, Bytes: CronExpression, Table: job,
			Column: "cron_expression",
		},
		{Field: "schedule.timeZone", Bytes: TimeZone, Table: job, Column: "time_zone"},
		// A definition for alerting: its other fields are those of Documents.
		{Field: "name", Characters: Name, Bytes: Name * utf8Most, Table: setting, Column: "name"},
		{Field: "group", Characters: Group, Bytes: Group * utf8Most, Table: setting, Column: "group_name"},
		{Field: "CHANNEL.config", Bytes: ChannelConfig + sealBytes, Table: setting, Column: "sealed"},
		{Field: "comment", Characters: Comment, Bytes: Comment * utf8Most, Table: alert, Column: "comment"},
		// Each contact has one mail address.
		{Field: "CONTACT.email", Bytes: texts(MostContacts, Email), Table: "scheduler_notification", Column: "recipients"},
	}
}
