package main

import (
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/postrider/follow"
	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/modules/eventexport"
)

type listenCommand struct {
	remote

	ForwardTo string   `help:"Also post each event to this URL, signed with a secret printed at start." name:"forward-to" placeholder:"URL"`
	Events    []string `help:"Only events of these types (default: all)." placeholder:"TYPE,..."`
	Since     string   `help:"Start with an event ID, a time, or an age such as 2h; at most 30 days ago." placeholder:"WHEN"`
}

func (c *listenCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	in := follow.Request{BaseURL: server.BaseURL, APIKey: server.APIKey, ForwardTo: c.ForwardTo, Events: c.Events,
		Out: s.out,
		Log: s.log}
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
			return misusef("--since: %q must be an event id, a time or an age", c.Since)
		}
	}
	return follow.Run(s.ctx, in)
}

type exportStatusCommand struct{ toolSettings }

func (c *exportStatusCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error {
		is, err := eventexport.ReadState(s.ctx, of.store.DB)
		if err != nil {
			return err
		}
		return s.print(shown.ExportOf(is))
	})
}

type exportRewindCommand struct {
	toolSettings

	Since time.Time `help:"Export events since this time again." placeholder:"2026-01-31T12:00:00Z" required:""`
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
