//go:build linux

// Package commands holds the crash matrix of commands: it kills and freezes
// nodes and helpers while commands of every nasty kind run, and reads from a
// ledger that the commands write themselves, outside the product, whether any
// of them outlived what the product believed of it.
package commands

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// NastyCommand is the first argument with which a program plays a nasty
// command; it calls Nasty with the others.
const NastyCommand = "nasty-command"

// Kinds are the ways in which a command makes itself hard to end.
func Kinds() []string {
	return []string{"plain", "deaf", "family", "escape", "hidden", "holder", "frozen", "chain", "talker"}
}

// beatEvery is the pause between two lines of one process in the ledger.
const beatEvery = 50 * time.Millisecond

// Nasty plays a command: a kind, the ledger, the execution and the attempt. A
// kind that begins with "child-" plays what a command starts. It ends by
// signals only.
func Nasty(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("a nasty command has a kind, a ledger, an execution and an attempt, not %q", args)
	}
	p := player{kind: args[0], rest: args[1:]}
	if p.kind != "plain" && p.kind != "talker" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	for _, child := range p.children() {
		if err := p.start(child); err != nil {
			return err
		}
	}
	return p.beat()
}

type player struct {
	kind string
	rest []string
}

// children are the kinds of the processes that a kind starts.
func (p player) children() []string {
	switch p.kind {
	case "family":
		return []string{"child-parent", "child-parent", "child-plain"}
	case "child-parent":
		return []string{"child-plain"}
	case "escape":
		return []string{"child-session"}
	case "hidden":
		return []string{"child-between"}
	case "child-between":
		return []string{"child-unmarked"}
	case "holder":
		return []string{"child-holding"}
	case "frozen":
		return []string{"child-frozen"}
	case "chain":
		return []string{"child-link"}
	}
	return nil
}

func (p player) start(kind string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, slices.Concat([]string{NastyCommand, kind}, p.rest)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	switch kind {
	case "child-session", "child-link":
		cmd.SysProcAttr.Setsid = true
	case "child-between", "child-unmarked":
		cmd.SysProcAttr.Setsid = true
		cmd.Env = []string{}
	case "child-holding":
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// It is reaped by whoever ends it.
	return cmd.Process.Release()
}

// beat writes a line into the ledger again and again.
func (p player) beat() error {
	ledger, err := os.OpenFile(p.rest[0], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		line := fmt.Sprintf("%s %s %s %d %d\n", p.rest[1], p.rest[2], p.kind, os.Getpid(), time.Now().UnixNano())
		if _, err := ledger.WriteString(line); err != nil {
			return err
		}
		switch {
		case p.kind == "child-between" && n == 0:
			return nil // and its child has lost its parent
		case p.kind == "child-link" && n == 2:
			return p.start("child-link") // the next link, when this one ends
		case p.kind == "child-frozen" && n == 0:
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		case p.kind == "talker":
			fmt.Println(strings.Repeat("talk ", 200))
		}
		time.Sleep(beatEvery)
	}
}
