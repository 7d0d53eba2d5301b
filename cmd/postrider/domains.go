package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type domainsCommand struct {
	Add     domainsAddCommand     `cmd:"" help:"Add a domain and print the DNS records to publish."`
	List    domainsListCommand    `cmd:"" help:"List domains, newest first."`
	Get     domainsGetCommand     `cmd:"" help:"Print a domain and its DNS records."`
	Verify  domainsVerifyCommand  `cmd:"" help:"Look up the DNS records. Exits with code 1 unless all required ones are found."`
	Records domainsRecordsCommand `cmd:"" help:"Print the DNS records to publish, as a table or a zone file."`
	Publish domainsPublishCommand `cmd:"" help:"Publish the DNS records, or a DMARC policy, through the DNS provider."`
	Delete  domainsDeleteCommand  `cmd:"" help:"Delete a domain."`

	Deliverability domainsDeliverabilityCommand `cmd:"" help:"Print what receivers report about a domain's mail, and what to fix."`
}

const domainVerified = "verified"

// domainName is the argument for a domain.
type domainName struct {
	Domain string `arg:"" help:"Name or ID of the domain."`
}

// path returns the path of the domain in the API.
func (d domainName) path(s *session, server client.Server) (string, error) {
	id, err := findDomain(s, server, d.Domain)
	return "/domains/" + url.PathEscape(id), err
}

// findDomain returns the ID of the domain with a name or ID.
func findDomain(s *session, server client.Server, name string) (string, error) {
	if strings.HasPrefix(name, "dom_") {
		return name, nil
	}
	id := ""
	err := server.List(s.ctx, "/domains", "domains", nil, 0, func(item json.RawMessage) error {
		fields, err := decodeItem(item)
		if err == nil && fields["name"] == strings.ToLower(name) {
			id, _ = fields["id"].(string)
		}
		return err
	})
	if err == nil && id == "" {
		err = fmt.Errorf("the account has no domain with the name %q", name)
	}
	return id, err
}

// call sends a request about the domain, and returns the domain of the response.
func (d domainName) call(s *session, r remote, method, below string) (json.RawMessage, error) {
	server, err := r.server()
	if err != nil {
		return nil, err
	}
	path, err := d.path(s, server)
	if err != nil {
		return nil, err
	}
	var answer struct{ Domain json.RawMessage }
	err = server.Do(s.ctx, client.Request{Method: method, Path: path + below}, &answer)
	return answer.Domain, err
}

// printDomain prints a domain, and its records below it.
func (o output) printDomain(s *session, domain json.RawMessage) error {
	if err := o.printItem(s, domain, "id", "name", "status", "inbound_enabled", "open_tracking", "click_tracking",
		"tls_mode", "mta_sts", "bimi_logo_url", "created_at", "verified_at", "last_checked_at"); err != nil || o.JSON || o.Quiet {
		return err
	}
	fmt.Fprintln(s.out)
	return s.printRecords(domain)
}

func (s *session) printRecords(domain json.RawMessage) error {
	var d struct {
		Records []map[string]any `json:"records"`
	}
	if err := json.Unmarshal(domain, &d); err != nil {
		return err
	}
	for _, r := range d.Records {
		if priority, ok := r["priority"]; ok {
			r["value"] = formatCell(priority) + " " + formatCell(r["value"])
		}
	}
	return s.printRows(d.Records, "type", "name", "value", "required", "status", "error")
}

type domainsAddCommand struct {
	remote
	output

	Name    string `arg:"" help:"Name of the domain."`
	Inbound bool   `help:"Also receive mail for the domain."`
}

func (c *domainsAddCommand) Run(s *session) error {
	var answer struct{ Domain json.RawMessage }
	if err := c.do(s, client.Request{Method: http.MethodPost, Path: "/domains",
		Body: map[string]any{"name": c.Name, "inbound_enabled": c.Inbound}}, &answer); err != nil {
		return err
	}
	return c.printDomain(s, answer.Domain)
}

type domainsListCommand struct{ listFlags }

func (c *domainsListCommand) Run(s *session) error {
	return c.list(s, "/domains", "domains", nil, "id", "name", "status", "inbound_enabled", "created_at")
}

type domainsGetCommand struct {
	remote
	output
	domainName
}

func (c *domainsGetCommand) Run(s *session) error {
	domain, err := c.call(s, c.remote, http.MethodGet, "")
	if err != nil {
		return err
	}
	return c.printDomain(s, domain)
}

type domainsVerifyCommand struct {
	remote
	output
	domainName
}

func (c *domainsVerifyCommand) Run(s *session) error {
	domain, err := c.call(s, c.remote, http.MethodPost, "/verify")
	if err != nil {
		return err
	}
	if err := c.printDomain(s, domain); err != nil {
		return err
	}
	var d struct {
		Status string `json:"status"`
	}
	if err := json.Unmarshal(domain, &d); err != nil {
		return err
	}
	if d.Status != domainVerified {
		return exitError(exitFailure)
	}
	return nil
}

type domainsRecordsCommand struct {
	remote
	domainName

	JSON  bool `help:"Print JSON as the API returns it." name:"json" xor:"form"`
	Quiet bool `help:"Print the names of the records only, one per line." short:"q" xor:"form"`
	Zone  bool `help:"Print a zone file (RFC 1035)." xor:"form"`
}

func (c *domainsRecordsCommand) Run(s *session) error {
	if c.Zone {
		server, err := c.server()
		if err != nil {
			return err
		}
		path, err := c.path(s, server)
		if err != nil {
			return err
		}
		return server.Copy(s.ctx, client.Request{Method: http.MethodGet, Path: path + "/zone-file"}, s.out)
	}
	domain, err := c.call(s, c.remote, http.MethodGet, "")
	if err != nil {
		return err
	}
	if !c.JSON && !c.Quiet {
		return s.printRecords(domain)
	}
	var d struct {
		Records []json.RawMessage `json:"records"`
	}
	if err := json.Unmarshal(domain, &d); err != nil {
		return err
	}
	var names []string
	for _, record := range d.Records {
		fields, err := decodeItem(record)
		if err != nil {
			return err
		}
		names = append(names, formatCell(fields["name"]))
	}
	return output{JSON: c.JSON, Quiet: c.Quiet}.printDone(s, d, names, "")
}

type domainsDeleteCommand struct {
	remote
	output
	domainName

	Yes bool `help:"Skip the confirmation prompt." short:"y"`
}

func (c *domainsDeleteCommand) Run(s *session) error {
	if err := s.confirm("Delete "+c.Domain+"? Emails from it are refused immediately.", c.Yes); err != nil {
		return err
	}
	if _, err := c.call(s, c.remote, http.MethodDelete, ""); err != nil {
		return err
	}
	return c.printDone(s, map[string]string{"deleted": c.Domain}, []string{c.Domain}, "%s deleted\n", c.Domain)
}
