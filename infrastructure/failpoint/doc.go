// Package failpoint lets a test do to the process what it cannot do from
// outside. In an ordinary build nothing of it is there: the functions are empty
// or give back what they are given. With the build tag "failpoints" it is told by
// the environment:
//
//	PS_FAILPOINT="fire.inserted=kill@3"          kill -9 of the own process at the third hit
//	PS_FAILPOINT="fire.reply-lost=replylost@2"   at the second hit, report the reply of a COMMIT as lost
//	PS_FAILPOINT_CLOCK=FILE                      the wall clock is off by the milliseconds in the file
//	PS_FAILPOINT_STORE_CLOCK=FILE                the clock of a store's server is off by the seconds in the file
//	PS_FAILPOINT_HANDLERS="a,b"                  the process has these handlers, which call the URL in the job's data
//
// A point's name is the transaction's name, a dot, and the step.
package failpoint

import "errors"

// ErrReplyLost is what an armed replylost point returns.
var ErrReplyLost = errors.New("failpoint: the reply was lost")
