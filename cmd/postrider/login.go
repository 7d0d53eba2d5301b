package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/postrider/postrider/cmd/postrider/client"
	"github.com/postrider/postrider/rest/api/wire"
)

type loginCommand struct {
	BaseURL string `default:"http://127.0.0.1:8080" env:"POSTRIDER_BASE_URL" help:"URL of Postrider." name:"base-url" placeholder:"URL"`
	Profile string `default:"default" env:"POSTRIDER_PROFILE" help:"Name to store the server and key under." placeholder:"NAME"`
}

// Run reads the key from the environment, the terminal or standard input, never from an argument, which other users
// of the machine can see.
func (c *loginCommand) Run(s *session) error {
	key, err := s.readKey()
	if err != nil {
		return err
	}
	server := client.Server{BaseURL: strings.TrimRight(c.BaseURL, "/"), APIKey: key}
	who, err := identify(s, server)
	if err != nil {
		return err
	}
	profiles, err := client.OpenProfiles()
	if err != nil {
		return err
	}
	if err := profiles.Put(c.Profile, client.Profile(server)); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "Signed in to %s as %s. The key is stored in %s.\n", server.BaseURL, who.name(),
		profiles.Path())
	return nil
}

// readKey returns POSTRIDER_API_KEY, or hidden input from the terminal, or the first line of standard input.
func (s *session) readKey() (string, error) {
	if key := os.Getenv("POSTRIDER_API_KEY"); key != "" {
		return key, nil
	}
	if isTerminal(os.Stdin) {
		fmt.Fprint(s.log, "API key (svc_…): ")
		typed, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(s.log)
		return strings.TrimSpace(string(typed)), err
	}
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, 1<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// identity is the account of an API key. A key with the scope sending cannot read it.
type identity struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Plan struct {
		Name string `json:"name"`
	} `json:"plan"`
}

func (i identity) name() string {
	if i.ID == "" {
		return "an API key that can only send"
	}
	return fmt.Sprintf("account %s (%s)", clean(i.Name), i.ID)
}

// identify returns the account of the key, or an error that reports whether the server refused the key.
func identify(s *session, server client.Server) (who identity, err error) {
	var answer struct{ Account identity }
	err = server.Do(s.ctx, client.Request{Method: http.MethodGet, Path: "/account"}, &answer)
	switch client.StatusOf(err) {
	case http.StatusForbidden:
		return identity{}, nil
	case http.StatusUnauthorized:
		return identity{}, fmt.Errorf("%s does not accept this API key", server.BaseURL)
	default:
		return answer.Account, err
	}
}

type logoutCommand struct {
	Profile string `default:"default" env:"POSTRIDER_PROFILE" help:"Profile to delete." placeholder:"NAME"`
}

// Run deletes a profile. The key stays valid.
func (c *logoutCommand) Run(s *session) error {
	profiles, err := client.OpenProfiles()
	if err != nil {
		return err
	}
	existed, err := profiles.Delete(c.Profile)
	if err != nil {
		return err
	}
	if !existed {
		return fmt.Errorf("--profile: there is no profile %q", c.Profile)
	}
	fmt.Fprintf(s.out, "Profile %s deleted. Its key remains valid; to revoke it, use postrider keys revoke.\n", c.Profile)
	return nil
}

type whoamiCommand struct {
	remote
	output
}

func (c *whoamiCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	who, err := identify(s, server)
	if err != nil {
		return err
	}
	const visible = 12 // characters of a key that lists also show
	prefix := server.APIKey[:min(visible, len(server.APIKey))]
	if c.JSON {
		return s.print(map[string]any{"base_url": server.BaseURL, "key_prefix": prefix, "account_id": wire.OrNull(who.ID),
			"account_name": wire.OrNull(who.Name), "plan": wire.OrNull(who.Plan.Name)})
	}
	if c.Quiet {
		_, err := fmt.Fprintln(s.out, cmp.Or(who.ID, "-"))
		return err
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{{"SERVER", server.BaseURL}, {"ACCOUNT", who.name()}, {"PLAN", who.Plan.Name},
		{"KEY", prefix + "…"}} {
		fmt.Fprintf(w, "%s\t%s\n", line[0], cmp.Or(clean(line[1]), "-"))
	}
	return w.Flush()
}
