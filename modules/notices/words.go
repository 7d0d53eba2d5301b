package notices

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/postrider/postrider/modules/sending"
)

// words are what a kind of notice says. Names in braces are filled in.
type words struct {
	subject string
	lines   []string
	button  string
	end     string
}

// paying ends mails about money.
const paying = "You get this mail because you are an owner of the team, or look after its billing."

var said = map[Kind]words{
	Reset: {
		subject: "Set a new password",
		lines:   []string{"Somebody, probably you, asked for a new password for your Postrider account.", "The link works once, for one hour. It ends all your sessions."},
		button:  "Set a new password",
		end:     "If it was not you, ignore this mail: your password stays as it is.",
	},
	SignUp: {
		subject: "Finish signing up",
		lines:   []string{"Use this link to choose a password and make your team.", "It works once, for 24 hours."},
		button:  "Finish signing up",
		end:     "If you did not ask for it, ignore this mail: nothing was made.",
	},
	Already: {
		subject: "You have an account already",
		lines:   []string{"Somebody, probably you, wanted to sign up with this address, which has an account already.", "Sign in with your password. If you have forgotten it, ask for a new one on the sign-in page."},
		end:     "If it was not you, ignore this mail.",
	},
	Email: {
		subject: "Confirm your new address",
		lines:   []string{"Use this link to make this the address of your Postrider account.", "It works once, for 24 hours."},
		button:  "Confirm the address",
		end:     "If you did not ask for it, ignore this mail.",
	},
	Invite: {
		subject: "Join {team} on Postrider",
		lines:   []string{"{inviter} invites you to join the team {team} as {role}.", "The link works once, for seven days."},
		button:  "Join the team",
		end:     "If you do not know what this is about, ignore this mail.",
	},
	LimitNear: {
		subject: "{team} has sent 80 % of its emails of the month",
		lines:   []string{"The team {team} may send {number} emails a month, and has sent 80 % of them.", "Emails beyond that are refused until the next month begins."},
		button:  "Look at plan and usage",
		end:     paying,
	},
	LimitReached: {
		subject: "{team} has sent all its emails of the month",
		lines:   []string{"The team {team} may send {number} emails a month, and has sent them.", "Further emails are refused until the next month begins, or until the plan or the limit is changed."},
		button:  "Look at plan and usage",
		end:     paying,
	},
	IncludedNear: {
		subject: "{team} has sent 80 % of the emails in its plan",
		lines:   []string{"The plan {plan} of the team {team} includes {number} emails a month, and 80 % of them are sent."},
		button:  "Look at plan and usage",
		end:     paying,
	},
	IncludedReached: {
		subject: "{team} has sent the emails in its plan",
		lines:   []string{"The plan {plan} of the team {team} includes {number} emails a month, and they are sent.", "Further emails are sent, and billed if the plan has a price for them. You can set a limit of your own."},
		button:  "Look at plan and usage",
		end:     paying,
	},
	PaymentFailed: {
		subject: "A payment of {team} failed",
		lines:   []string{"A payment for the plan {plan} of the team {team} failed. Pay it, or give another card.", "Until then nothing beyond the emails in the plan is sent, and after some days the plan ends."},
		button:  "Look at the payment",
		end:     paying,
	},
	PlanChanged: {
		subject: "{team} has the plan {plan}",
		lines:   []string{"The plan of the team {team} has changed: it is {plan} now."},
		button:  "Look at plan and usage",
		end:     paying,
	},
}

// fill puts names in the place of {name}. Control characters, which no name should have, are left out.
func fill(text string, names map[string]string) string {
	var pairs []string
	for name, value := range names {
		value = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, value)
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

//go:embed notice.html
var layout string

var page = template.Must(template.New("notice").Parse(layout))

type shown struct {
	Subject, Hello, Button, Link, End string
	Lines                             []string
}

// message makes the mail of a notice.
func (n Notice) message(from string) (sending.Message, error) {
	w, known := said[n.Kind]
	if !known {
		return sending.Message{}, fmt.Errorf("there is no notice %q", n.Kind)
	}
	names := map[string]string{"name": n.Names["name"], "team": n.Names["team"], "inviter": n.Names["inviter"], "role": n.Names["role"],
		"plan": n.Names["plan"], "number": n.Names["number"]}
	if names["inviter"] == "" {
		names["inviter"] = "Somebody"
	}
	s := shown{Subject: fill(w.subject, names), Hello: "Hello", Button: w.button, End: w.end}
	if names["name"] != "" {
		s.Hello = fill("Hello {name}", names)
	}
	for _, line := range w.lines {
		s.Lines = append(s.Lines, fill(line, names))
	}
	if n.Path != "" {
		s.Link = n.BaseURL + n.Path
		if !n.Token.IsZero() {
			s.Link += "#" + n.Token.Reveal()
		}
	}
	var html bytes.Buffer
	if err := page.Execute(&html, s); err != nil {
		return sending.Message{}, err
	}
	return sending.Message{From: sending.Mailbox{Text: from}, To: []sending.Mailbox{{Text: n.To}}, Subject: s.Subject, HTML: html.String(), Text: s.text()}, nil
}

func (s shown) text() string {
	parts := append([]string{s.Hello + ",", ""}, s.Lines...)
	if s.Link != "" {
		parts = append(parts, "", s.Link)
	}
	return strings.Join(append(parts, "", s.End, ""), "\n")
}
