// Command postrider is the whole of Postrider: the service in development and in
// production, and the commands that look after it.
//
// This package parses and prints; what a command does is in package assembly.
//
// Exit codes: 0 it worked, 1 it did not, 2 the command line or the settings are
// wrong and nothing was touched.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/postrider/postrider/runtime/config"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal drains, the second one ends the process at once.
	context.AfterFunc(ctx, restore)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, assembled()))
}

// run is a whole life of the process, less the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, a assembly) int {
	var line commandLine
	parser, err := kong.New(&line, kong.Name("postrider"), kong.Description(description), kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 120}),
		kong.TypeMapper(switchType, switchMapper{}))
	if err != nil {
		return report(stderr, fmt.Errorf("command line: %w", err))
	}
	command, err := parser.Parse(args)
	if err != nil {
		return report(stderr, err)
	}
	machine, err := os.Hostname()
	if err != nil {
		machine = "" // the name is a default only
	}
	return report(stderr, command.Run(&session{ctx: ctx, out: stdout, log: stderr, version: versionOf(), machine: machine, assembly: a}))
}

// report prints an error for people and gives the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "postrider: %v\n", err)
	var usage *kong.ParseError
	var mistakes config.Mistakes
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "postrider --help lists commands, postrider <command> --help its flags.")
		return exitUsage
	case errors.As(err, &mistakes):
		return exitUsage
	default:
		return exitFailure
	}
}
