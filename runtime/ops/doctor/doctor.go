package doctor

import (
	"context"
	"crypto/x509"
	"net"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/mail/spf"
)

// lookLimit is the time limit of all checks together: those of Doctor and those in Others.
const lookLimit = 45 * time.Second

// Check checks one thing.
type Check func(ctx context.Context) []Finding

// DNS is the resolver.
type DNS interface {
	spf.Source
	LookupCNAME(ctx context.Context, name string) (string, error)
}

// Doctor checks an installation. It is safe for concurrent use.
type Doctor struct {
	Config Config
	DNS    DNS // a resolver without a cache
	// Others are checks that only the owner can provide, for example of the database.
	Others []Check

	// Replaced by tests. If nil: the network, the system's roots, the clock.
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	Roots *x509.CertPool
	Now   func() time.Time
}

// Run runs all checks concurrently and returns their findings in a fixed order. It ends within a minute,
// even if a check hangs.
func (d *Doctor) Run(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	checks := append(d.checks(), d.Others...)
	seen := make([][]Finding, len(checks))
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() { seen[i] = check(ctx) })
	}
	all.Wait()
	report := Report{Records: d.Config.Records(), Findings: []Finding{}}
	if report.Records == nil {
		report.Records = []RequiredRecord{}
	}
	for _, findings := range seen {
		report.Add(findings...)
	}
	return report
}

func (d *Doctor) checks() []Check {
	all := []Check{checkClock, d.disks, d.certificateFiles}
	if d.Config.baseHost() == "" {
		return all
	}
	all = append(all, d.resolver)
	for _, h := range d.Config.hosts() {
		all = append(all, func(ctx context.Context) []Finding { return d.host(ctx, h) })
	}
	all = append(all,
		func(ctx context.Context) []Finding { return d.spf(ctx, "dns.spf", d.Config.SPFInclude) },
		func(ctx context.Context) []Finding { return d.spf(ctx, "dns.return_path", d.Config.ReturnPathHost) },
		d.checkWildcards, d.checkServed)
	if d.Config.Direct {
		all = append(all, d.checkReverse, d.checkOutbound)
	}
	if d.Config.Receives {
		all = append(all, d.returnPathMX, d.checkInbound)
	}
	return all
}

func (d *Doctor) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

func (d *Doctor) dial(ctx context.Context, addr string) (net.Conn, error) {
	if d.Dial != nil {
		return d.Dial(ctx, "tcp", addr)
	}
	return (&net.Dialer{Timeout: dialLimit}).DialContext(ctx, "tcp", addr)
}
