// Command postrider is the complete program: the service in development and in production, and the commands
// that operate it.
//
// A command is an edge, like a REST operation: it opens the services that it needs, makes one call and prints the
// result. Its file is named after its noun. Package app assembles the service itself.
//
// Exit codes: 0: success; 1: failure; 2: the command line or the settings are invalid, and nothing was
// changed. For doctor: 0: no problems, 1: warnings, 2: errors.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/postrider/postrider/runtime/base/setting"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal drains the process; the second one ends it immediately.
	context.AfterFunc(ctx, restore)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs a command and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var line commandLine
	machine, err := os.Hostname()
	if err != nil {
		machine = "" // the name is only a default
	}
	s := &session{ctx: ctx, out: stdout, log: stderr, version: describeBuild().Version, machine: machine}
	if slices.Equal(args, []string{"health"}) {
		return reportError(stderr, checkHealth(s, healthSettings(), false))
	}
	command, err := line.parse(args, s)
	if err != nil {
		return reportError(stderr, err)
	}
	s.variables = variablesOf(command.Model.Node)
	return reportError(stderr, command.Run(s))
}

// parse parses the command line. The error is a usage error of kong.
func (line *commandLine) parse(args []string, s *session) (*kong.Context, error) {
	parser, err := line.newParser(s)
	if err != nil {
		return nil, err
	}
	return parser.Parse(addAdmin(parser.Model.Node, args))
}

// addAdmin inserts admin before a command of that group that is called without it. The help does not show this form.
func addAdmin(root *kong.Node, args []string) []string {
	if len(args) > 0 && findCommand(root, args[0]) == nil && findCommand(findCommand(root, "admin"), args[0]) != nil {
		return append([]string{"admin"}, args...)
	}
	return args
}

func findCommand(above *kong.Node, name string) *kong.Node {
	for _, n := range above.Children {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// newParser creates the parser from the declarations.
func (line *commandLine) newParser(s *session) (*kong.Kong, error) {
	addSettings(reflect.ValueOf(line).Elem(), setting.All())
	parser, err := kong.New(line, kong.Name("postrider"), kong.Description(description), kong.Writers(s.out, s.log),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 120}),
		kong.ExplicitGroups([]kong.Group{{Key: "run", Title: "Run an installation:"},
			{Key: "use", Title: "Use a running Postrider, from any machine:"}}),
		kong.Vars{"version": describeBuild().String()},
		kong.TypeMapper(onOffType, onOffMapper{}), kong.TypeMapper(capType, capMapper{}))
	if err != nil {
		return nil, fmt.Errorf("command line: %w", err)
	}
	return parser, nil
}

// variablesOf lists the environment variables that a command and its subcommands read. A setting is declared
// only by its tags.
func variablesOf(n *kong.Node) []string {
	var all []string
	for _, flag := range n.Flags {
		all = append(all, flag.Envs...)
	}
	for _, below := range n.Children {
		all = append(all, variablesOf(below)...)
	}
	return all
}

// exitError ends a command that has already printed its result.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usageError is an invalid value of a flag that only a command can recognize.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func misusef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// reportError prints an error and returns the exit code.
func reportError(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var said exitError
	if errors.As(err, &said) {
		return int(said)
	}
	fmt.Fprintf(stderr, "postrider: %v\n", err)
	var usage *kong.ParseError
	var misused usageError
	var mistakes setting.Mistakes
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "Run postrider --help for the commands, and postrider <command> --help for its flags.")
		return exitUsage
	case errors.As(err, &mistakes), errors.As(err, &misused):
		return exitUsage
	default:
		return exitFailure
	}
}
