package main

import (
	"io"

	"github.com/alecthomas/kong"

	"github.com/postrider/postrider/cmd/postrider/describe"
)

type helpCommand struct {
	Command []string `arg:"" help:"Command to describe." optional:""`
}

func (c *helpCommand) Run(s *session) error {
	var line commandLine
	_, err := line.parse(append(c.Command, "--help"), s) // prints the help and exits
	return err
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script. Load it with: source <(postrider completion bash).
func (c *completionCommand) Run(s *session) error {
	return s.describe(func(root *kong.Node) (string, error) { return describe.Completion(root, c.Shell) })
}

type manCommand struct{}

// Run prints the man page. Save it with: postrider man > postrider.1.
func (*manCommand) Run(s *session) error {
	return s.describe(func(root *kong.Node) (string, error) { return describe.Man(root, s.version), nil })
}

// describe passes the declarations of the command line to write and prints the result.
func (s *session) describe(write func(root *kong.Node) (string, error)) error {
	var line commandLine
	parser, err := line.newParser(s)
	if err != nil {
		return err
	}
	text, err := write(parser.Model.Node)
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.out, text)
	return err
}
