package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type domainsDeliverabilityCommand struct {
	remote
	domainName
	output
}

func (c *domainsDeliverabilityCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	path, err := c.path(s, server)
	if err != nil {
		return err
	}
	var answer struct{ Deliverability json.RawMessage }
	if err := server.Do(s.ctx, client.Request{Method: http.MethodGet, Path: path + "/deliverability"}, &answer); err != nil {
		return err
	}
	if c.JSON {
		return s.printJSON(answer.Deliverability)
	}
	return c.printDeliverability(s, answer.Deliverability)
}

// printDeliverability prints the grade, the advice, and tables of requirements, sources, receivers and placement.
func (o output) printDeliverability(s *session, answer json.RawMessage) error {
	var d struct {
		ID     string `json:"domain_id"`
		Domain string `json:"domain"`
		Since  string `json:"since"`
		Until  string `json:"until"`
		Grade  string `json:"grade"`
		Advice struct {
			Verdict string `json:"verdict"`
			Reason  string `json:"reason"`
			Record  string `json:"record"`
		} `json:"advice"`
		Requirements []map[string]any `json:"requirements"`
		Sources      []map[string]any `json:"sources"`
		Degradations []map[string]any `json:"degradations"`
		Blocklists   []map[string]any `json:"blocklists"`
		Loops        []map[string]any `json:"feedback_loops"`
		BIMI         []map[string]any `json:"bimi"`
		Placement    []placement      `json:"placement"`
		Receivers    []map[string]any `json:"receivers"`
		TLS          struct {
			Reports   int64            `json:"reports"`
			Succeeded int64            `json:"succeeded"`
			Failed    int64            `json:"failed"`
			Days      []map[string]any `json:"days"`
			Receivers []map[string]any `json:"receivers"`
			Failures  []map[string]any `json:"failures"`
		} `json:"tls"`
	}
	if err := json.Unmarshal(answer, &d); err != nil {
		return err
	}
	if o.Quiet {
		_, err := fmt.Fprintln(s.out, d.ID)
		return err
	}
	fmt.Fprintf(s.out, "%s, %s to %s: %s\n\n", d.Domain, d.Since, d.Until, d.Grade)
	if err := s.printRows(d.Requirements, "code", "state", "since", "found", "fix"); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\nDMARC policy: %s. %s\n", formatCell(d.Advice.Verdict), formatCell(d.Advice.Reason))
	if d.Advice.Record != "" {
		fmt.Fprintf(s.out, "Publish at _dmarc.%s: %s\n", d.Domain, formatCell(d.Advice.Record))
	}
	if err := o.printTables(s,
		outputTable{d.Degradations, []string{"provider", "problem", "since", "affected", "recipients", "reason", "fix", "reply"}},
		outputTable{d.Blocklists, []string{"subject", "list", "status", "found", "fix", "page"}},
		outputTable{placementRows(d.Placement), []string{"provider", "recipients", "delivered", "delayed", "bounced",
			"median_seconds", "delivered_before", "median_before"}},
		outputTable{causeRows(d.Placement), []string{"provider", "cause", "recipients", "reason", "fix", "reply"}},
		outputTable{d.BIMI, []string{"code", "state", "found", "fix"}},
		outputTable{d.Loops, []string{"provider", "name", "complaints", "fix", "page"}}, outputTable{d.Sources, []string{"address", "name", "ours", "messages", "dmarc", "at_risk"}},
		outputTable{d.Receivers, []string{"receiver", "messages", "dmarc", "dkim", "spf"}}); err != nil || d.TLS.Reports == 0 {
		return err
	}
	fmt.Fprintf(s.out, "\nTLS reports: %d, with %d successful and %d failed sessions.\n", d.TLS.Reports, d.TLS.Succeeded,
		d.TLS.Failed)
	return o.printTables(s, outputTable{d.TLS.Failures, []string{"type", "policy", "sessions", "reason", "fix"}},
		outputTable{d.TLS.Receivers, []string{"receiver", "organization", "succeeded", "failed"}},
		outputTable{d.TLS.Days, []string{"day", "succeeded", "failed"}})
}

// placement is the mail to one mailbox provider.
type placement struct {
	Provider   string           `json:"provider"`
	LastWeek   map[string]any   `json:"last_7_days"`
	WeekBefore map[string]any   `json:"previous_7_days"`
	Causes     []map[string]any `json:"causes"`
}

func placementRows(list []placement) (rows []map[string]any) {
	for _, p := range list {
		row := maps.Clone(p.LastWeek)
		row["provider"], row["delivered_before"], row["median_before"] = p.Provider, p.WeekBefore["delivered"],
			p.WeekBefore["median_seconds"]
		rows = append(rows, row)
	}
	return rows
}

func causeRows(list []placement) (rows []map[string]any) {
	for _, p := range list {
		for _, cause := range p.Causes {
			cause["provider"] = p.Provider
			rows = append(rows, cause)
		}
	}
	return rows
}

// outputTable is a table of the output.
type outputTable struct {
	rows    []map[string]any
	columns []string
}

// printTables prints the tables that have rows.
func (o output) printTables(s *session, tables ...outputTable) error {
	for _, table := range tables {
		if len(table.rows) == 0 {
			continue
		}
		fmt.Fprintln(s.out)
		if err := s.printRows(table.rows, table.columns...); err != nil {
			return err
		}
	}
	return nil
}
