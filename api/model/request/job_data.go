package request

// DataForms is jobData. It is kept as it was written; the fields document what it
// holds, by the type of the job.
type DataForms struct {
	// text is the JSON object.
	text     string
	HTTP     HTTPData    `json:"HTTP"`
	Command  CommandData `json:"COMMAND"`
	Custom   HandlerData `json:"CUSTOM"`
	Workflow StepsBody   `json:"WORKFLOW"`
}

// HTTPData documents the jobData of an HTTP job. Placeholders stand in url,
// headers, body, expectedBody and the certificates.
type HTTPData struct {
	// Method is that of the request.
	Method string `json:"method,omitempty" enums:"GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS" default:"GET"`
	// URL is absolute, http or https, without a user and a fragment.
	URL string `json:"url" maxLength:"8192"`
	// Headers are at most 100; those that frame the message, and X-Scheduler-…, are
	// the server's.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is sent as it stands, and the values of placeholders keep their places in it: in JSON, forms
	// and XML by the header Content-Type. GET and HEAD have none.
	Body string `json:"body,omitempty" maxLength:"65536"`
	// ExpectedStatus lists statuses and ranges from 200 to 599, such as
	// 200,204,300-302; any other one fails the attempt.
	ExpectedStatus string `json:"expectedStatus,omitempty" maxLength:"256" default:"200-299"`
	// ExpectedBody is a text that the answer must hold.
	ExpectedBody string `json:"expectedBody,omitempty" maxLength:"4096"`
	// Async says that the answer only begins the run; the target reports the end later. The
	// job needs a timeoutSec.
	Async bool `json:"async,omitempty" default:"false"`
	// ClientCertificate is shown to the target, in PEM.
	ClientCertificate string `json:"clientCertificate,omitempty" maxLength:"65536"`
	// ClientKey is the key of the certificate; it must come from a secret, such as
	// ${secret.CLIENT_KEY}.
	ClientKey string `json:"clientKey,omitempty" maxLength:"65536"`
	// CertificateAuthority is trusted instead of those of the machine, in PEM.
	CertificateAuthority string `json:"certificateAuthority,omitempty" maxLength:"65536"`
}

// CommandData documents the jobData of a COMMAND job: either command, or script
// with interpreter. Placeholders stand in command, env and workingDir.
type CommandData struct {
	// Command is the program and its arguments, at most 256; no shell is between.
	// The program is an absolute path, or a name that is looked up in the PATH.
	Command []string `json:"command,omitempty"`
	// Script is what the interpreter reads. Placeholders in it are left alone: give
	// values by env.
	Script string `json:"script,omitempty" maxLength:"65536"`
	// Interpreter is one of executor.command.interpreters, such as sh or python3.
	Interpreter string `json:"interpreter,omitempty"`
	// Env are variables of the process, at most 200, beside the run's own.
	Env map[string]string `json:"env,omitempty"`
	// WorkingDir is an absolute path; without one the run has a folder of its own,
	// which is removed when it has ended.
	WorkingDir string `json:"workingDir,omitempty" maxLength:"4096"`
	// SuccessExitCodes are the exit codes of success, each 0 to 255; 0 where absent.
	SuccessExitCodes []int `json:"successExitCodes,omitempty"`
	// OutputCharset is the encoding of what the process writes, such as gbk or iso-8859-1; UTF-8 where absent.
	OutputCharset string `json:"outputCharset,omitempty" maxLength:"40"`
	// CPUSec bounds the CPU time of each process, in seconds.
	CPUSec int `json:"cpuSec,omitempty" minimum:"1" maximum:"604800"`
	// MemoryMb bounds the memory, in MiB: of the run where it has a control group,
	// else of each process.
	MemoryMb int `json:"memoryMb,omitempty" minimum:"16" maximum:"1048576"`
	// OpenFiles bounds the open files of each process.
	OpenFiles int `json:"openFiles,omitempty" minimum:"16" maximum:"1048576"`
	// Processes bounds the processes of the run, or of the user where it has no
	// control group.
	Processes int `json:"processes,omitempty" minimum:"1" maximum:"65536"`
	// FileMb bounds the size of each file that is written, in MiB.
	FileMb int `json:"fileMb,omitempty" minimum:"1" maximum:"1048576"`
}

// HandlerData documents the jobData of a CUSTOM job by its jobClass, as far as
// the handler is built in.
type HandlerData struct {
	Echo  EchoData  `json:"echo"`
	Fail  FailData  `json:"fail"`
	Log   LogData   `json:"log"`
	Noop  NoopData  `json:"noop"`
	Sleep SleepData `json:"sleep"`
}

// NoopData documents the handler noop, which does nothing.
type NoopData struct{}

// SleepData documents the handler sleep, which waits.
type SleepData struct {
	// Ms is how long, in milliseconds.
	Ms int64 `json:"ms,omitempty" minimum:"0" maximum:"604800000" default:"0"`
}

// EchoData documents the handler echo, which logs and returns a text.
type EchoData struct {
	// Text is logged and is the result of the run.
	Text string `json:"text,omitempty" maxLength:"65536"`
}

// FailData documents the handler fail, which fails.
type FailData struct {
	// Message is that of the failure.
	Message string `json:"message,omitempty" maxLength:"4096" default:"failed as asked"`
	// Times is how many attempts fail; 0 is all.
	Times int `json:"times,omitempty" minimum:"0" maximum:"1000" default:"0"`
}

// LogData documents the handler log, which writes lines.
type LogData struct {
	// Lines are written to the log, at most 10,000. A number in their place, at most
	// 1,000,000, is how many numbered ones.
	Lines []string `json:"lines,omitempty"`
}
