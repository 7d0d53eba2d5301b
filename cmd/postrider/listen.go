package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/postrider/follow"
	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/modules/eventexport"
)

type listenCommand struct {
	BaseURL   string   `default:"http://127.0.0.1:8080" env:"POSTRIDER_BASE_URL"                                        help:"Where Postrider is reached." name:"base-url" placeholder:"URL"`
	APIKey    string   `env:"POSTRIDER_API_KEY"         help:"A key of the account. Rather set it in the environment."  name:"api-key"                     placeholder:"svc_…" required:""`
	ForwardTo string   `help:"Post each event here too, signed like a webhook, with a secret that is printed at the start." name:"forward-to"              placeholder:"URL"`
	Events    []string `help:"Only these types (all)."                                                                  placeholder:"TYPE,..."`
	Since     string   `help:"Begin in the past: an event's id, a time as 2027-01-31T00:00:00Z, or an age as 2h; 30 days at most (now)." placeholder:"WHEN"`
}

func (c *listenCommand) Run(s *session) error {
	in := follow.Request{BaseURL: c.BaseURL, APIKey: c.APIKey, ForwardTo: c.ForwardTo, Events: c.Events, Out: s.out, Log: s.log}
	if c.Since != "" {
		age, err := time.ParseDuration(c.Since)
		at, timeErr := time.Parse(time.RFC3339, c.Since)
		switch {
		case strings.HasPrefix(c.Since, "evt_"):
			in.Since = c.Since
		case err == nil && age >= 0:
			in.SinceTime = time.Now().Add(-age)
		case timeErr == nil:
			in.SinceTime = at
		default:
			return fmt.Errorf("--since: %q is neither an event's id, nor a time, nor an age", c.Since)
		}
	}
	return follow.Run(s.ctx, in)
}

type exportStatusCommand struct{ toolSettings }

func (c *exportStatusCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error {
		is, err := eventexport.Look(s.ctx, of.store.DB)
		if err != nil {
			return err
		}
		return s.print(shown.ExportOf(is))
	})
}

type exportRewindCommand struct {
	toolSettings

	Since time.Time `help:"Everything that has happened since then is sent again." placeholder:"2026-01-31T12:00:00Z" required:""`
}

func (c *exportRewindCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error {
		is, err := eventexport.Rewind(s.ctx, of.store.DB, c.Since)
		if err != nil {
			return err
		}
		return s.print(shown.ExportOf(is))
	})
}
