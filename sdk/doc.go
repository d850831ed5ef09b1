// Package sdk is the public face of the platform for Go programs: it defines
// the handlers that CUSTOM jobs run.
//
// A handler is registered under a name, the job's jobClass, and is called once
// for every attempt of every shard. It learns what it runs through a Run and
// answers with an error:
//
//	nil                  the run succeeded
//	Fatal(err)           it failed, and repeating is pointless
//	RetryAfter(d, err)   it failed; when the job still has retries, wait d
//	any other error      it failed; the job's retry policy decides
//
// A panic fails the attempt with the reason PANIC and harms nothing else.
//
// Delivery is at least once: a node may die after the work was done and before
// that was recorded. A handler whose effects must not happen twice passes
// Run.IdempotencyKey to its target. It is the same over all attempts and replays
// of one piece of work. Or it passes Run.FencingToken, with which the target
// refuses an attempt that was replaced while it still ran.
package sdk
