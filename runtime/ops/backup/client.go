package backup

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/postrider/postrider/runtime/storage/postgres"
)

// client is a PostgreSQL client program, ready to run.
type client struct {
	ctx  context.Context //nolint:containedctx // one client is one run
	name string
	path string
	dsn  string // without a password, because other users can see the command line; empty if not connected
	env  []string
}

// newClient finds a program for a server of a major version. address may be empty.
func newClient(ctx context.Context, config postgres.Config, major int, name, address string) (*client, error) {
	path, err := postgres.Client(ctx, config, name, major)
	if err != nil {
		return nil, err
	}
	c := &client{ctx: ctx, name: name, path: path,
		env: append(os.Environ(), "PGCONNECT_TIMEOUT=10", "PGAPPNAME=postrider "+name)}
	if address == "" {
		return c, nil
	}
	c.dsn = address
	if parsed, err := url.Parse(address); err == nil && parsed.User != nil {
		if password, set := parsed.User.Password(); set {
			parsed.User = url.User(parsed.User.Username())
			c.dsn, c.env = parsed.String(), append(c.env, "PGPASSWORD="+password)
		}
	}
	return c, nil
}

func (c *client) command(args ...string) (command *exec.Cmd, said *bytes.Buffer) {
	if c.dsn != "" {
		args = append(args, "--no-password", "--dbname="+c.dsn)
	}
	command, said = exec.CommandContext(c.ctx, c.path, args...), &bytes.Buffer{}
	command.Env, command.Stderr = c.env, said
	return command, said
}

// run runs the program until it exits. Its error includes the last output of the program.
func (c *client) run(args ...string) error { return c.runInto(nil, args...) }

// runInto is run with a writer for the output.
func (c *client) runInto(out io.Writer, args ...string) error {
	command, said := c.command(args...)
	command.Stdout = out
	return c.explainError(command.Run(), said)
}

func (c *client) explainError(err error, said *bytes.Buffer) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	return fmt.Errorf("%s: %w: %s", c.name, err, strings.Join(lines[max(0, len(lines)-5):], "; "))
}

// running is a program that reads its standard input.
type running struct {
	client  *client
	command *exec.Cmd
	said    *bytes.Buffer
	input   io.WriteCloser
}

// begin starts the program.
func (c *client) begin(args ...string) (*running, error) {
	command, said := c.command(args...)
	input, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return &running{client: c, command: command, said: said, input: input}, nil
}

// wait waits for a program whose context has ended or that has exited.
func (r *running) wait() error { return r.client.explainError(r.command.Wait(), r.said) }

// end closes the input, and waits.
func (r *running) end() error {
	if err := r.input.Close(); err != nil {
		return fmt.Errorf("%s: %w", r.client.name, err)
	}
	return r.wait()
}
