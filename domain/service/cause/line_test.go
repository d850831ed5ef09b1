package cause_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/cause"
)

func TestTheLineThatNamesTheErrorIsFound(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing": {"\n \n", ""},
		"shell":   {"copying\n/bin/sh: 3: rclone: not found\n", "/bin/sh: 3: rclone: not found"},
		"sqlalchemy": {
			"Traceback (most recent call last):\n  File \"/a.py\", line 3, in <module>\n    raise x\n" +
				"sqlalchemy.exc.OperationalError: (2003, \"Can't connect to MySQL server\")\n" +
				"(Background on this error at: https://sqlalche.me/e/20/e3q8)\n",
			"sqlalchemy.exc.OperationalError: (2003, \"Can't connect to MySQL server\")",
		},
		"python, no message": {
			"Traceback (most recent call last):\n  File \"a\", line 1\n    foo(\n    ~~~^\nKeyboardInterrupt\n",
			"KeyboardInterrupt",
		},
		"python, chained": {
			"Traceback (most recent call last):\n  File \"a\", line 1\nKeyError: 'x'\n\nDuring handling of the above " +
				"exception, another exception occurred:\n\nTraceback (most recent call last):\n" +
				"  File \"a\", line 2\nValueError: no x\nbye\n",
			"ValueError: no x",
		},
		"python, logged": {
			"ERROR:root:Traceback (most recent call last):\n  File \"a\", line 1\nZeroDivisionError: division by zero\nbye\n",
			"ZeroDivisionError: division by zero",
		},
		"java": {
			"Exception in thread \"main\" java.lang.RuntimeException: close failed\n\tat a.B.c(B.java:3)\n" +
				"Caused by: java.sql.SQLException: ORA-1\n\tat a.B.d(B.java:9)\n" +
				"Caused by: java.net.ConnectException: Connection refused\n\t... 12 more\n",
			"java.net.ConnectException: Connection refused",
		},
		"java, logged": {
			"2026-11-23 02:00:01 ERROR [main] c.a.Close - failed\njava.lang.IllegalStateException: closed\n" +
				"\tat a.B.c(B.java:3)\n\tat a.B.d(B.java:4)\n2026-11-23 02:00:02 INFO [main] c.a.Close - bye\n",
			"java.lang.IllegalStateException: closed",
		},
		"go": {
			"panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n" +
				"\t/a/main.go:7 +0x1d\nexit status 2\n",
			"panic: runtime error: index out of range [5] with length 3",
		},
		"node": {
			"/app/x.js:3\nthrow new Error('boom')\n^\n\nError: boom\n    at Object.<anonymous> (/app/x.js:3:7) {\n" +
				"  code: 'X'\n}\n\nNode.js v20.1.0\n", "Error: boom",
		},
		"node, cause": {
			"Error: boom\n    at a (/x.js:3:7) {\n  [cause]: TypeError: x is not a function\n      at b (/x.js:1:1)\n}\n",
			"TypeError: x is not a function",
		},
		"ruby": {
			"a.rb:1:in `f': undefined method `x' for nil (NoMethodError)\n\tfrom a.rb:3:in `<main>'\n",
			"a.rb:1:in `f': undefined method `x' for nil (NoMethodError)",
		},
		"php": {
			"PHP Fatal error:  Uncaught Exception: no in /a.php:3\nStack trace:\n#0 {main}\n  thrown in /a.php on line 3\n",
			"PHP Fatal error:  Uncaught Exception: no in /a.php:3",
		},
		"rust": {
			"thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`\n",
			"index out of bounds",
		},
		"net": {
			"Unhandled exception. System.AggregateException: one\n ---> System.IO.IOException: disk full\n   at A.B()\n" +
				"   --- End of inner exception stack trace ---\n", "System.IO.IOException: disk full",
		},
		"git": {
			"fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\n" +
				"and the repository exists.\n", "fatal: Could not read from remote repository.",
		},
		"make": {"a.c:3:1: error: no such type\nmake: *** [Makefile:3: all] Error 1\n", "a.c:3:1: error: no such type"},
		"usage": {
			"error: unknown flag --x\nUsage: tool [flags]\nTry 'tool --help' for more information.\n", "error: unknown flag --x",
		},
		"no error": {"errors found: 0\n5 errorless runs\ndone: nothing was sent\n", "done: nothing was sent"},
		"handled long before": {
			"Traceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\n" + strings.Repeat("next\n", 21) +
				"curl: (7) refused\n",
			"curl: (7) refused",
		},
		"windows lines": {"ValueError: x\r\nbye\r\n", "ValueError: x"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, cause.Line(c.text)) })
	}
}

func FuzzLine(f *testing.F) {
	f.Add("Traceback (most recent call last):\n  File \"a\"\nE: x\n")
	f.Add("thread 'a' panicked at b:\n\n")
	f.Add("Caused by: \n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		line := cause.Line(text)
		require.NotContains(t, line, "\n")
		require.Contains(t, text, line)
		if strings.TrimSpace(text) != "" {
			require.NotEmpty(t, line)
		}
	})
}
