package main

import (
	"errors"
	"time"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin"
)

// linkSettings are the toolSettings of commands that print a link.
type linkSettings struct {
	settingFlags `settings:"tool,POSTRIDER_BASE_URL"`

	Verbose bool `help:"Write log lines to stderr." name:"verbose"`
}

func (l linkSettings) tool() toolSettings { return toolSettings(l) }

type setUpLinkCommand struct{ linkSettings }

func (c *setUpLinkCommand) Run(s *session) error {
	return c.tool().withPeople(s, func(people peopleServices) error {
		link, err := people.signIn.SetUpLink(s.ctx)
		if err == nil && link == "" {
			err = errors.New("setup is done: a user can already sign in. List users with `postrider admin user list`, and print a sign-in link with `postrider admin user link EMAIL`")
		}
		if err != nil {
			return err
		}
		return s.print(map[string]string{"url": link})
	})
}

type userCommand struct {
	List     userListCommand     `cmd:"" help:"List all users as JSON, ordered by email."`
	Create   userCreateCommand   `cmd:"" help:"Create a user and print it as JSON."`
	Link     userLinkCommand     `cmd:"" help:"Print a one-time sign-in link (valid for 1 hour)."`
	Disable  userDisableCommand  `cmd:"" help:"Disable a user and end their sessions; --enable reverts it."`
	Operator userOperatorCommand `cmd:"" help:"Make a user an operator; --revoke reverts it."`
}

type userListCommand struct{ toolSettings }

func (c *userListCommand) Run(s *session) error {
	return c.withPeople(s, func(people peopleServices) error {
		all, err := people.teams.Users(s.ctx)
		if err != nil {
			return err
		}
		return s.print(map[string][]userView{"users": shown.List(all, userViewOf)})
	})
}

type userCreateCommand struct {
	toolSettings

	Email string `help:"Email address of the user." placeholder:"ADDRESS" required:""`
	Name  string `help:"Name of the user." placeholder:"NAME"`
}

func (c *userCreateCommand) Run(s *session) error {
	return c.withPeople(s, func(people peopleServices) error {
		return s.printUser(people.teams.CreateUser(s.ctx, accounts.Caller{}, c.Email, c.Name, nil))
	})
}

type userLinkCommand struct {
	linkSettings

	User string `arg:"" help:"Email or ID of the user." placeholder:"EMAIL"`
}

func (c *userLinkCommand) Run(s *session) error {
	return c.tool().withPeople(s, func(people peopleServices) error {
		link, err := people.signIn.CreateUserLink(s.ctx, accounts.Caller{}, c.User, nil)
		if err != nil {
			return err
		}
		return s.print(map[string]string{"url": link.URL})
	})
}

type userDisableCommand struct {
	toolSettings

	User   string `arg:"" help:"Email or ID of the user." placeholder:"EMAIL"`
	Enable bool   `help:"Enable the user again."`
}

func (c *userDisableCommand) Run(s *session) error {
	return c.withPeople(s, func(people peopleServices) error {
		return s.printUser(people.signIn.ChangeAsOperator(s.ctx, accounts.Caller{}, c.User, team.UserChange{Disabled: new(!c.Enable)}))
	})
}

type userOperatorCommand struct {
	toolSettings

	User   string `arg:"" help:"Email or ID of the user." placeholder:"EMAIL"`
	Revoke bool   `help:"Revoke the operator role."`
}

func (c *userOperatorCommand) Run(s *session) error {
	return c.withPeople(s, func(people peopleServices) error {
		return s.printUser(people.signIn.ChangeAsOperator(s.ctx, accounts.Caller{}, c.User, team.UserChange{Operator: new(!c.Revoke)}))
	})
}

// peopleServices are the services of commands about users.
type peopleServices struct {
	teams  *team.Service
	signIn *signin.Service
}

func (t toolSettings) withPeople(s *session, do func(peopleServices) error) error {
	return t.withStore(s, func(of services) error {
		people, err := of.openPeople()
		if err != nil {
			return err
		}
		return do(people)
	})
}

func (of services) openPeople() (out peopleServices, err error) {
	holders, err := of.accounts()
	if err != nil {
		return out, err
	}
	out.teams = team.New(team.Params{DB: of.store.DB, Accounts: holders})
	config, err := signin.ConfigOf(of.config)
	if err != nil {
		return out, err
	}
	out.signIn, err = signin.New(signin.Params{Config: config, DB: of.store.DB, Accounts: holders, Teams: out.teams,
		Box: of.store.Box, Logger: of.log})
	return out, err
}

// userView is the JSON of a user.
type userView struct {
	ID           string            `json:"id"`
	Email        string            `json:"email"`
	Name         string            `json:"name"`
	Operator     bool              `json:"operator"`
	DisabledAt   *time.Time        `json:"disabled_at"`
	LastSignInAt *time.Time        `json:"last_sign_in_at"`
	CreatedAt    time.Time         `json:"created_at"`
	Memberships  map[string]string `json:"memberships"` // role by account id
}

func userViewOf(u *ent.User) userView {
	view := userView{ID: u.ID, Email: u.Email, Name: u.Name, Operator: u.Operator, DisabledAt: u.DisabledAt,
		LastSignInAt: u.LastSignInAt, CreatedAt: u.CreatedAt.UTC(),
		Memberships: map[string]string{}}
	for _, m := range u.Edges.Memberships {
		view.Memberships[m.AccountID] = string(m.Role)
	}
	return view
}

func (s *session) printUser(u *ent.User, err error) error {
	if err != nil {
		return err
	}
	return s.print(map[string]userView{"user": userViewOf(u)})
}
