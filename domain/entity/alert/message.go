package alert

import "time"

// MaxMessageAlerts bounds the alerts of which one message speaks one by one. Message.Total counts
// the others, too.
const MaxMessageAlerts = 100

// Message is what one notification says through one channel. It is a copy: it has no link to the
// store, and channels may read it at any time.
type Message struct {
	// ID is that of the notification. It is the same for every attempt to send it, so that receivers
	// can know a repetition. It consists of letters, digits, '-' and '_'.
	ID string
	// Time is when the notification was made.
	Time time.Time
	// Firing is false once all alerts of the message are resolved.
	Firing bool
	// Level is the highest of the alerts: INFO, WARNING or CRITICAL.
	Level string
	// GroupLabels are the labels that all alerts of the message share, and that made them one group.
	GroupLabels map[string]string
	// Alerts are at most MaxMessageAlerts.
	Alerts []MessageAlert
	// Total is how many alerts the notification is about.
	Total int
	// Counts say what the newest alerts are about, where they are too many to read one by one: the most
	// frequent kind first. Uncounted is how many older ones are in none of them.
	Counts    []MessageCount
	Uncounted int
	// Fewer makes Content anew with the first n alerts alone: a channel asks for it where Content is too
	// long. Nil: the text cannot be made anew.
	Fewer func(n int) Content
	// URL leads to the alerts in the console; "" where the server does not know its own address.
	URL string
	// To are addresses of the people on call: mail addresses take the place of those in a channel of type EMAIL, phones
	// and chat ids are called by robots.
	To []string
	// Content is the text for people. Channels for programs do without it.
	Content Content
}

// MessageAlert is an alert as a message tells of it.
type MessageAlert struct {
	ID          string
	Fingerprint string
	// Type, Level and Status are names of the wire, such as JOB_FAILED, CRITICAL and FIRING.
	Type   string
	Level  string
	Status string
	// RuleName names the rule that made the alert.
	RuleName string
	Group    string
	JobID    string
	JobName  string
	// Owner is whom to ask about the job, as it was when the alert was raised; "" where nobody is named.
	Owner       string
	ExecutionID string
	NodeID      string
	// Summary says in one sentence what is the matter.
	Summary string
	// Details are what Summary was made of, for sentences in other languages.
	Details map[string]string
	Labels  map[string]string
	// Count is how often it happened in this episode.
	Count     int
	StartTime time.Time
	// EndTime is zero while the alert is open.
	EndTime time.Time
	// URL leads to the alert in the console, RunbookURL to advice; "" where there is none.
	URL        string
	RunbookURL string
}

// MessageCount is how many alerts of a message are of one type.
type MessageCount struct {
	Type  string
	Count int
	// Groups is in how many groups of jobs they are; Group is the one with most of them.
	Groups int
	Group  string
	// Cause is an error of the most frequent cause, of CauseCount alerts; "" where they have none.
	Cause      string
	CauseCount int
}

// Content is a text in all its forms. As the content of a template, each form is a template.
type Content struct {
	// Title is one line: the subject of a mail, the title of a card.
	Title string
	// Text is plain text.
	Text string
	// HTML is the body of a mail.
	HTML string
	// Markdown is in the dialect of the channel that it is made for.
	Markdown string
}

// SendResult is what became of one attempt to send a message. It holds no secret.
type SendResult struct {
	// Result is SENT, REFUSED (somebody has to mend the channel) or FAILED. With FAILED, the receiver
	// may even have the message.
	Result Result
	// Code is for programs, such as http_503, timeout or errcode_310000; "" for SENT.
	Code string
	// Text says for people what happened: one line of at most MaxResultText bytes. For SENT it is
	// empty, or says what was left out.
	Text string
	// RetryAfter is how long the receiver asks not to be called; 0 when it does not say.
	RetryAfter time.Duration
	// Listed are the ids of the alerts that the message named, after all bounds of its form.
	Listed []string
}

// MaxResultText bounds the text of a SendResult, in bytes.
const MaxResultText = 512
