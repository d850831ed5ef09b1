// Package failpoint lets a crash test stop the process at a named point of a
// transaction, where chance would rarely stop it. In an ordinary build every
// point is an empty function that the compiler removes; with the build tag
// "failpoints" the environment variable PS_FAILPOINT arms one point:
//
//	PS_FAILPOINT="fire.inserted=kill@3"      kill -9 of the own process at the third hit
//	PS_FAILPOINT="fire.reply-lost=replylost@2"   at the second hit, report the reply of a COMMIT as lost
//
// A point's name is the transaction's name, a dot, and the step.
package failpoint

import "errors"

// ErrReplyLost is what an armed replylost point returns.
var ErrReplyLost = errors.New("failpoint: the reply was lost")
