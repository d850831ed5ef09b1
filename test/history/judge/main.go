// Judge judges kept histories again: a rule that was mended sees what old simulations did.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/platform-scheduler/platform-scheduler/test/history/kept"
)

func main() { os.Exit(judge(os.Stdout, os.Stderr, os.Args[1:])) }

// judge returns 1 where a rule is broken, 2 where a file cannot be judged.
func judge(out, errs io.Writer, files []string) (code int) {
	if len(files) == 0 {
		_, _ = fmt.Fprintln(errs, "name the history to judge: go run ./test/history/judge FILE…")
		return 2
	}
	for _, file := range files {
		k, err := kept.Read(file)
		if err != nil {
			_, _ = fmt.Fprintln(errs, err)
			code = max(code, 2)
			continue
		}
		s := k.Judge()
		_, _ = fmt.Fprintf(out, "%s, seed %d: %s\n", file, k.Seed, s)
		for _, v := range s.Violations {
			_, _ = fmt.Fprintf(out, "%s: %s\n", v.Rule, v.Detail)
			code = max(code, 1)
		}
	}
	return code
}
