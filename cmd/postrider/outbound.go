package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	runtime "github.com/postrider/postrider/runtime/assembly"
	"github.com/postrider/postrider/runtime/config"
)

type smarthostCommand struct {
	Set    smarthostSetCommand    `cmd:"" help:"Send the mail of an account, or of one of its domains, through a server of its own; print it as JSON, without the password."`
	List   smarthostListCommand   `cmd:"" help:"Print the smarthosts as JSON, without passwords."`
	Remove smarthostRemoveCommand `cmd:"" help:"Delete a smarthost."`
}

type smarthostSetCommand struct {
	toolSettings

	MasterKey     string `env:"POSTRIDER_MASTER_KEY"                                          help:"The service's: it seals the password."                                                                                           name:"master-key" placeholder:"KEY,..."`
	Account       string `help:"Whose mail: email or id."                                     placeholder:"acc_…"                                                                                                                    required:""`
	Domain        string `help:"Name or id of one of its domains (all its mail)."             placeholder:"NAME"`
	URL           string `help:"smtp://user@host:587, smtps://user@host:465; ?verify=off at its end accepts any certificate. user:password@ works too, and stays in the history of your shell." name:"url" placeholder:"URL" required:""`
	Password      string `env:"POSTRIDER_SMARTHOST_PASSWORD"                                  help:"Password of the user. Rather set it in the environment, or use --password-stdin, than on the command line."                       placeholder:"TEXT"`
	PasswordStdin bool   `help:"Read the password from the first line of the standard input." name:"password-stdin"`
	Use           string `default:"always"                                                    enum:"always,fallback"                                                                                                                 help:"always; or fallback: after a direct attempt that was refused because of who connects, or that reached nobody."`
}

var (
	errTwoPasswords = errors.New("--password-stdin and --password (POSTRIDER_SMARTHOST_PASSWORD): give one of them")
	errNoPassword   = errors.New("--password-stdin: the standard input has no password")
)

func (c *smarthostSetCommand) Run(s *session) error {
	cfg, err := config.Load(config.Tool, config.Settings{StoreSettings: c.StoreSettings, LogSettings: c.LogSettings, MasterKey: c.MasterKey})
	if err != nil {
		return err
	}
	if c.PasswordStdin {
		if c.Password != "" {
			return errTwoPasswords
		}
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if c.Password = strings.TrimRight(line, "\r\n"); c.Password == "" {
			return errors.Join(errNoPassword, err)
		}
	}
	stored, err := s.assembly.setSmarthost(s, cfg, runtime.SmarthostInput{Account: c.Account, Domain: c.Domain, URL: c.URL, Password: c.Password, Use: c.Use})
	if err != nil {
		return err
	}
	return s.print(map[string]runtime.SmarthostView{"smarthost": stored})
}

type smarthostListCommand struct {
	toolSettings

	Account string `help:"Whose: email or id (all)." placeholder:"acc_…"`
}

func (c *smarthostListCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	all, err := s.assembly.listSmarthosts(s, cfg, c.Account)
	if err != nil {
		return err
	}
	return s.print(map[string][]runtime.SmarthostView{"smarthosts": all})
}

type smarthostRemoveCommand struct {
	toolSettings

	ID string `arg:"" help:"Its id." placeholder:"smh_…"`
}

func (c *smarthostRemoveCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return s.assembly.removeSmarthost(s, cfg, c.ID)
}

type outboundCommand struct {
	TLSReport tlsReportCommand `cmd:"" help:"Print how TLS went with receiving domains on a day: for each a report in the form of RFC 8460." name:"tls-report"`
}

type tlsReportCommand struct {
	toolSettings

	Day          string `help:"UTC day, as 2026-11-22 (yesterday)."                  placeholder:"DAY"`
	Domain       string `help:"Receiving domain (all)."                              placeholder:"NAME"`
	Organization string `help:"Who reports (the machine's name)."                    placeholder:"NAME"`
	Contact      string `help:"Address for questions (postmaster@ and who reports)." placeholder:"ADDRESS"`
}

func (c *tlsReportCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	q := runtime.TLSReportQuery{Day: c.Day, Domain: c.Domain, Organization: cmp.Or(c.Organization, s.machine, "localhost")}
	q.Contact = cmp.Or(c.Contact, "postmaster@"+q.Organization)
	reports, err := s.assembly.tlsReports(s, cfg, q)
	if err != nil {
		return err
	}
	for _, report := range reports {
		if err := s.print(report); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	return nil
}
