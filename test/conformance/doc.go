// Package conformance holds one suite for the SDKs of all languages: a scripted gateway, which speaks the worker
// protocol over HTTP and does what goes wrong by script, and the scenarios. The worker under test is a program;
// README.md says what it has to do.
package conformance
