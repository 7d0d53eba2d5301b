package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/trackinghost"
	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
)

// fakeHosts has one domain, example.com. Its host was set but never checked, unless status is set.
type fakeHosts struct {
	fail   error
	status trackinghost.Status
	asked  []string
}

func (f *fakeHosts) Set(ctx context.Context, account, domain string, in hosts.HostInput) (hosts.Host, error) {
	f.asked = append(f.asked, account+" "+domain+" "+in.Host)
	if !strings.HasSuffix(in.Host, ".example.com") {
		return hosts.Host{}, fault.InvalidField("host", "must be a name below example.com, such as links.example.com")
	}
	return f.Get(ctx, account, domain)
}

func (f *fakeHosts) Get(_ context.Context, account, domain string) (hosts.Host, error) {
	if account != accountID || domain != domainID {
		return hosts.Host{}, fault.NoSuch("domain", domain)
	}
	created := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	checked, expires := created.Add(time.Minute), created.AddDate(0, 3, 0)
	h := hosts.Host{Target: "mail.example.org", Certificate: hosts.Certificate{Status: hosts.CertificatePending},
		TrackingHost: &ent.TrackingHost{Host: "links.example.com", Status: trackinghost.StatusPending,
			CreatedAt: created}}
	switch f.status {
	case trackinghost.StatusVerified:
		h.Status, h.Found, h.VerifiedAt, h.LastCheckedAt = f.status, []string{"alias.example.com", "mail.example.org"},
			&checked, &checked
		h.Certificate = hosts.Certificate{Status: hosts.CertificateIssued, Expires: &expires}
	case trackinghost.StatusFailed:
		h.Status, h.Found, h.VerifiedAt, h.LastCheckedAt = f.status, []string{"elsewhere.example.net"},
			&created, &checked
		h.TrackingHost.Error = "Point the CNAME record at links.example.com to mail.example.org. It currently points to elsewhere.example.net."
		h.Certificate = hosts.Certificate{Status: hosts.CertificateFailed,
			Error: "The certificate authority refused: no address"}
	}
	return h, f.fail
}

func (f *fakeHosts) Verify(ctx context.Context, account, domain string) (hosts.Host, error) {
	return f.Get(ctx, account, domain)
}

func (f *fakeHosts) Delete(ctx context.Context, account, domain string) error {
	_, err := f.Get(ctx, account, domain)
	return err
}

func TestTrackingHostAnswers(t *testing.T) {
	t.Parallel()
	const one = "/api/domains/" + domainID + "/tracking-host"
	const other = "/api/domains/dom_01kf0m4w7he6x8q2v5b3n9c1tb/tracking-host"
	const good = `{"host":"links.example.com"}`
	none := fault.NoSuch("tracking host of domain", domainID)
	early := fault.Conflictf(fault.CodeDomainNotVerified,
		"Verify the domain example.com before you set its tracking host")
	taken := fault.Conflictf(fault.CodeConflict,
		"The host links.example.com is already the tracking host of another domain")
	for name, c := range map[string]struct {
		request request
		host    trackinghost.Status
		fail    error
		status  int
	}{
		"tracking_host_set":            {request: request{method: "PUT", path: one, body: good}, status: 200},
		"tracking_host_empty":          {request: request{method: "PUT", path: one, body: `{}`}, status: 400},
		"tracking_host_bad":            {request: request{method: "PUT", path: one, body: `{"host":5,"name":"links"}`}, status: 400},
		"tracking_host_null":           {request: request{method: "PUT", path: one, body: `{"host":null}`}, status: 400},
		"tracking_host_elsewhere":      {request: request{method: "PUT", path: one, body: `{"host":"links.example.net"}`}, status: 400},
		"tracking_host_no_body":        {request: request{method: "PUT", path: one}, status: 415},
		"tracking_host_early":          {request: request{method: "PUT", path: one, body: good}, fail: early, status: 409},
		"tracking_host_taken":          {request: request{method: "PUT", path: one, body: good}, fail: taken, status: 409},
		"tracking_host_set_unknown":    {request: request{method: "PUT", path: other, body: good}, status: 404},
		"tracking_host_set_garbage":    {request: request{method: "PUT", path: "/api/domains/%00/tracking-host", body: good}, status: 404},
		"tracking_host_set_scope":      {request: request{method: "PUT", path: one, body: good, key: "read"}, status: 403},
		"tracking_host_pending":        {request: request{method: "GET", path: one, key: "read"}, status: 200},
		"tracking_host_verified":       {request: request{method: "GET", path: one}, host: trackinghost.StatusVerified, status: 200},
		"tracking_host_failed":         {request: request{method: "GET", path: one}, host: trackinghost.StatusFailed, status: 200},
		"tracking_host_none":           {request: request{method: "GET", path: one}, fail: none, status: 404},
		"tracking_host_unknown":        {request: request{method: "GET", path: other}, status: 404},
		"tracking_host_garbage":        {request: request{method: "GET", path: "/api/domains/dom_x/tracking-host"}, status: 404},
		"tracking_host_scope":          {request: request{method: "GET", path: one, key: "sending"}, status: 403},
		"tracking_host_checked":        {request: request{method: "POST", path: one + "/verify"}, host: trackinghost.StatusVerified, status: 200},
		"tracking_host_check_failed":   {request: request{method: "POST", path: one + "/verify"}, host: trackinghost.StatusFailed, status: 200},
		"tracking_host_check_none":     {request: request{method: "POST", path: one + "/verify"}, fail: none, status: 404},
		"tracking_host_check_unknown":  {request: request{method: "POST", path: "/api/domains/dom_x/tracking-host/verify"}, status: 404},
		"tracking_host_check_scope":    {request: request{method: "POST", path: one + "/verify", key: "read"}, status: 403},
		"tracking_host_deleted":        {request: request{method: "DELETE", path: one}, status: 200},
		"tracking_host_delete_none":    {request: request{method: "DELETE", path: one}, fail: none, status: 404},
		"tracking_host_delete_unknown": {request: request{method: "DELETE", path: "/api/domains/dom_x/tracking-host"}, status: 404},
		"tracking_host_delete_scope":   {request: request{method: "DELETE", path: one, key: "sending"}, status: 403},
		"tracking_host_method":         {request: request{method: "PATCH", path: one, body: good}, status: 405},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, c.request.path)
			b.hosts.status, b.hosts.fail = c.host, c.fail
			got := b.do(t, c.request)
			if got.status != c.status || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("status %d, want %d, %s: %s", got.status, c.status, got.header.Get("Content-Type"), got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

func TestTrackingHostReachesTheServiceAsItWasWritten(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/domains")
	b.do(t, request{method: "PUT", path: "/api/domains/" + domainID + "/tracking-host",
		body: `{"host":" Links.example.com"}`})
	if want := accountID + " " + domainID + "  Links.example.com"; len(b.hosts.asked) != 1 || b.hosts.asked[0] != want {
		t.Errorf("%q, want %q", b.hosts.asked, want)
	}
}
