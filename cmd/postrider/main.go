// Command postrider is the whole of Postrider: the service in development and in
// production, and the commands that look after it.
//
// A command is an edge, as an operation of REST is: its file is named like its noun,
// opens the services that it needs, makes one call and prints. The service itself is
// package assembly.
//
// Exit codes: 0 it worked, 1 it did not, 2 the command line or the settings are
// wrong and nothing was touched. Of doctor: 0 all is well, 1 warnings, 2 errors.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"runtime/debug"
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
	// The first signal drains, the second one ends the process at once.
	context.AfterFunc(ctx, restore)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is a whole life of the process, less the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var line commandLine
	machine, err := os.Hostname()
	if err != nil {
		machine = "" // the name is a default only
	}
	s := &session{ctx: ctx, out: stdout, log: stderr, version: versionOf(), machine: machine}
	command, err := line.parse(args, s)
	if err != nil {
		return report(stderr, err)
	}
	s.variables = variablesOf(command.Model.Node)
	return report(stderr, command.Run(s))
}

// parse fills in the command line. Error: kong's, for usage.
func (line *commandLine) parse(args []string, s *session) (*kong.Context, error) {
	parser, err := line.parser(s)
	if err != nil {
		return nil, err
	}
	return parser.Parse(args)
}

// parser reads the declarations.
func (line *commandLine) parser(s *session) (*kong.Kong, error) {
	addSettings(reflect.ValueOf(line).Elem(), setting.All())
	parser, err := kong.New(line, kong.Name("postrider"), kong.Description(description), kong.Writers(s.out, s.log),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 120}),
		kong.Vars{"version": fmt.Sprintf("postrider %s (%s)", s.version, s.platform())},
		kong.TypeMapper(onOffType, onOffMapper{}), kong.TypeMapper(capType, capMapper{}))
	if err != nil {
		return nil, fmt.Errorf("command line: %w", err)
	}
	return parser, nil
}

// variablesOf lists the variables of the environment that a command and those below it
// read. A setting is declared once, by its tags.
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

// exitError ends a command that has said everything already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report prints an error for people and gives the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var said exitError
	if errors.As(err, &said) {
		return int(said)
	}
	fmt.Fprintf(stderr, "postrider: %v\n", err)
	var usage *kong.ParseError
	var mistakes setting.Mistakes
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

// version is set by the Makefile: -ldflags '-X main.version=…'.
var version string //nolint:gochecknoglobals // the linker sets variables only

// versionOf says what was built.
func versionOf() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// platform says what with and what for.
func (*session) platform() string {
	return fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
