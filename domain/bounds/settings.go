package bounds

// The bounds of what people define for alerting. Lengths count characters, lists entries; Expression, TemplateSource,
// ChannelConfig and ActionParams count bytes.
const (
	// ID bounds an id that somebody names; those of the product are shorter.
	ID             = 64
	List           = 100
	ScopeJobs      = 500
	Expression     = 4096
	Actions        = 5
	ActionParams   = 16 << 10
	Members        = 200
	Shifts         = 100
	ChatID         = 255
	Email          = 254
	Phone          = 33
	Comment        = 1000
	TemplateSource = 16 << 10
	ChannelConfig  = 32 << 10
	Date           = 10
	// languages are those of messages, and sealBytes is what a seal adds.
	languages = 2
	sealBytes = 64
)

// How many settings of each kind there may be. The evaluator reads them all, each turn.
const (
	MostRules     = 1000
	MostChannels  = 500
	MostSilences  = 1000
	MostRoutes    = 500
	MostTemplates = 500
	MostTeams     = 500
	MostContacts  = 1000
	MostOnCalls   = 200
	// beyond are those that calls of one moment may add together, and the rules of the first start.
	beyond = 300
	// Settings is how many there may be of all kinds: who reads so many leaves none out.
	Settings = MostRules + MostChannels + MostSilences + MostRoutes + MostTemplates + MostTeams + MostContacts +
		MostOnCalls + beyond
)

// jsonMost is how many bytes JSON takes for a character at most: \u0026, or four bytes as they are.
const jsonMost = 6

// text is what a text of so many characters takes as JSON, texts what a list of them does.
func text(characters int) int           { return jsonMost*characters + len(`"",`) }
func texts(entries, characters int) int { return entries*text(characters) + len("[]") }

// Documents lists the fields of people in the documents of settings of alerting, as "KIND.field". The sum of a kind,
// with the names of its fields, is what a document has at most.
func Documents() []Row {
	const table, document = "scheduler_alert_setting", "document"
	in := func(field string, characters, bytes int) Row {
		return Row{Field: field, Characters: characters, Bytes: bytes, Table: table, Column: document}
	}
	template := languages * (jsonMost*TemplateSource + len(`"en":"",`))
	return []Row{
		in("RULE.scope.jobIds", 0, texts(ScopeJobs, ID)),
		in("RULE.scope.groups", 0, texts(List, Group)),
		in("RULE.scope.labels", 0, FormerLabelBytes),
		in("RULE.expression", 0, jsonMost*Expression),
		in("RULE.channelIds", 0, texts(List, ID)),
		in("RULE.actions.jobId", ID, Actions*text(ID)),
		in("RULE.actions.params", 0, Actions*jsonMost*ActionParams),
		in("RULE.editorId", 0, text(ID)),
		in("RULE.labels", 0, FormerLabelBytes),
		in("RULE.default", 0, text(Name)),
		in("CHANNEL.language", 0, text(languages)),
		in("CHANNEL.public", 0, jsonMost*ChannelConfig),
		in("CHANNEL.secrets", 0, jsonMost*ChannelConfig),
		in("SILENCE.match", 0, FormerLabelBytes),
		in("SILENCE.comment", Comment, text(Comment)),
		in("SILENCE.by", 0, text(Name)),
		in("ROUTE.match", 0, FormerLabelBytes),
		in("ROUTE.channelIds", 0, texts(List, ID)),
		in("ROUTE.groupBy", 0, texts(Labels, LabelKey)),
		in("ROUTE.escalateTo", 0, texts(List, ID)),
		in("ROUTE.onCallId", 0, text(ID)),
		in("ROUTE.templateId", 0, text(ID)),
		in("TEMPLATE.title", 0, template),
		in("TEMPLATE.text", 0, template),
		in("TEMPLATE.html", 0, template),
		in("TEMPLATE.markdown", 0, template),
		in("TEAM.members", 0, texts(Members, ID)),
		in("TEAM.channelIds", 0, texts(List, ID)),
		in("CONTACT.userId", 0, text(ID)),
		in("CONTACT.email", Email, text(Email)),
		in("CONTACT.phone", Phone, text(Phone)),
		in("CONTACT.chatId", ChatID, text(ChatID)),
		in("ON_CALL.timeZone", 0, text(TimeZone)),
		in("ON_CALL.shifts.teamId", 0, Shifts*text(ID)),
		in("ON_CALL.shifts.rotateFrom", Date, Shifts*text(Date)),
	}
}
