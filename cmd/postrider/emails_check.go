package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type emailsCheckCommand struct {
	remote
	output
	emailFlags

	Links bool `help:"Also request the links of the email."`
}

// emailFinding is a problem of an email, as POST /emails/check returns it.
type emailFinding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Reason   string `json:"reason"`
	Fix      string `json:"fix"`
	Part     string `json:"part"`
	Count    int    `json:"count"`
	Places   []struct {
		Line    *int   `json:"line"`
		Element string `json:"element"`
	} `json:"places"`
}

// Run prints the findings, and fails if one is an error or the email would not be sent.
func (c *emailsCheckCommand) Run(s *session) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	r := client.Request{Method: http.MethodPost, Path: "/emails/check", Body: body}
	if c.Links {
		r.Query = url.Values{"resolve_links": {"true"}}
	}
	var answer struct {
		Check json.RawMessage `json:"check"`
	}
	if err := c.do(s, r, &answer); err != nil {
		return err
	}
	var checked struct {
		Suppressed []string       `json:"suppressed_recipients"`
		Findings   []emailFinding `json:"findings"`
	}
	if err := json.Unmarshal(answer.Check, &checked); err != nil {
		return fmt.Errorf("read response: %w", err)
	}
	if err := c.printFindings(s, answer.Check, checked.Findings); err != nil {
		return err
	}
	for _, f := range checked.Findings {
		if f.Severity == "error" {
			return errors.New("the email has errors")
		}
	}
	if len(checked.Suppressed) > 0 {
		return fmt.Errorf("suppressed recipients: %s", strings.Join(checked.Suppressed, ", "))
	}
	return nil
}

func (o output) printFindings(s *session, check json.RawMessage, findings []emailFinding) error {
	var codes []string
	var rows []map[string]any
	for _, f := range findings {
		codes = append(codes, f.Code)
		rows = append(rows, map[string]any{"severity": f.Severity, "code": f.Code, "place": f.place(), "reason": f.Reason,
			"fix": f.Fix})
	}
	if o.JSON {
		return s.printJSON(check)
	}
	if o.Quiet || len(findings) == 0 {
		return o.printDone(s, nil, codes, "No problems found.\n")
	}
	return s.printRows(rows, "severity", "code", "place", "reason", "fix")
}

// place returns the first place of a finding.
func (f emailFinding) place() string {
	if len(f.Places) == 0 {
		return f.Part
	}
	at := f.Part
	if f.Places[0].Line != nil {
		at += ":" + strconv.Itoa(*f.Places[0].Line)
	}
	if f.Count > 1 {
		at += fmt.Sprintf(" (%d places)", f.Count)
	}
	return at + " " + f.Places[0].Element
}
