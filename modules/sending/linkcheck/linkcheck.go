package linkcheck

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/web/egress"
)

// The limits of a check.
const (
	MaxLinks    = 25 // requested in one check
	concurrent  = 5
	linkTimeout = 5 * time.Second
	maxTime     = 12 * time.Second // of one check
	maxChecks   = 8                // at the same time
)

// Config configures a Checker.
type Config struct {
	Client  *http.Client // of package egress
	AnyPort bool         // development: also use ports other than 443
}

// Checker requests links. It is safe for concurrent use.
type Checker struct {
	client  *http.Client
	anyPort bool
	checks  *limit.Keyed[string]
}

// New returns a new Checker.
func New(c Config) *Checker {
	return &Checker{client: c.Client, anyPort: c.AnyPort,
		checks: limit.NewKeyed[string](limit.Bounds{PerKey: 1, Total: maxChecks})}
}

// outcome is the result of a request.
type outcome int

const (
	works outcome = iota
	broken
	serverError
	unreachable
	skipped
)

var findings = map[outcome]lint.Finding{
	broken: {Code: "link_broken", Severity: lint.Error, Reason: "The page of a link does not exist.",
		Fix: "Correct the URL."},
	serverError: {Code: "link_server_error", Severity: lint.Warning, Reason: "The server of a link returned an error.",
		Fix: "Check the page, then check the email again."},
	unreachable: {Code: "link_unreachable", Severity: lint.Error, Reason: "The server of a link cannot be reached.",
		Fix: "Correct the host, its DNS records or its certificate."},
	skipped: {Code: "links_not_checked", Severity: lint.Info,
		Reason: fmt.Sprintf("Some links were not requested: only the first %d https links on port 443 are, for %d "+
			"seconds, one check of an account at a time.", MaxLinks, maxTime/time.Second), Fix: "Open them yourself."},
}

// result is the outcome for one link.
type result struct {
	link    lint.Link
	outcome outcome
	cause   string // empty: none
}

// Check requests the links and reports those that do not work or were not requested.
func (c *Checker) Check(ctx context.Context, accountID string, links []lint.Link) []lint.Finding {
	if !c.checks.TryAcquire(accountID) {
		results := make([]result, len(links))
		for i, l := range links {
			results[i] = result{link: l, outcome: skipped}
		}
		return summarize(results)
	}
	defer c.checks.Release(accountID)
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	return summarize(c.requestAll(ctx, links))
}

func (c *Checker) requestAll(ctx context.Context, links []lint.Link) []result {
	results := make([]result, len(links))
	slots, requested := make(chan struct{}, concurrent), 0
	var running sync.WaitGroup
	for i, l := range links {
		results[i] = result{link: l, outcome: skipped}
		target := c.targetOf(l)
		if target == "" || requested == MaxLinks {
			continue
		}
		requested++
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			results[i].outcome, results[i].cause = c.request(ctx, target)
		})
	}
	running.Wait()
	return results
}

// targetOf returns the URL to request, without a fragment, or "" if the link is not requested. A user in the URL would
// be sent as a credential.
func (c *Checker) targetOf(l lint.Link) string {
	u, err := url.Parse(l.URL)
	if err != nil || u.User != nil || u.Host == "" {
		return ""
	}
	if !c.anyPort && (u.Scheme != "https" || u.Port() != "" && u.Port() != "443") {
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

// request requests one URL. A request that the end of the check interrupts has no outcome.
func (c *Checker) request(check context.Context, target string) (outcome, string) {
	ctx, cancel := context.WithTimeout(check, linkTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, target, nil)
	if err != nil {
		return skipped, ""
	}
	r.Header.Set("User-Agent", "Postrider link check")
	response, err := c.client.Do(r)
	if err != nil {
		if errors.Is(err, egress.ErrPlainHTTP) || check.Err() != nil {
			return skipped, ""
		}
		return unreachable, causeOf(err)
	}
	response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusGone:
		return broken, fmt.Sprintf("status %d", response.StatusCode)
	case response.StatusCode >= 500 && response.StatusCode != http.StatusNotImplemented:
		return serverError, fmt.Sprintf("status %d", response.StatusCode)
	default: // other refusals concern the method or the client, not the page
		return works, ""
	}
}

// causeOf describes an error without details of the network.
func causeOf(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, egress.ErrRefused):
		return "private address"
	case errors.As(err, &certificate):
		return "invalid certificate"
	case errors.Is(err, context.DeadlineExceeded):
		return "no response in time"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "host does not exist"
	default:
		return "no connection"
	}
}

// summarize returns a finding for each outcome, except for links that work.
func summarize(results []result) []lint.Finding {
	found := map[outcome]*lint.Finding{}
	for _, r := range results {
		if r.outcome == works {
			continue
		}
		f := found[r.outcome]
		if f == nil {
			template := findings[r.outcome]
			f = &template
			f.Part = lint.HTML
			found[r.outcome] = f
		}
		f.Count++
		if len(f.Places) < lint.MaxPlaces {
			f.Places = append(f.Places, lint.Place{Line: r.link.Line,
				Element: lint.Shorten(strings.TrimSuffix(r.link.URL+" ("+r.cause+")", " ()"))})
		}
	}
	var list []lint.Finding
	for _, o := range []outcome{broken, serverError, unreachable, skipped} {
		if f := found[o]; f != nil {
			list = append(list, *f)
		}
	}
	return slices.Clip(list)
}
