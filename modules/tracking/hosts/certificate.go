package hosts

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent/trackinghost"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Certificates serves tracking hosts over TLS. It is nil if TLS is not configured.
type Certificates interface {
	// Ready reports whether the host can be served now.
	Ready(ctx context.Context, host string) bool
	Certificate(ctx context.Context, host string) Certificate
	// Obtain starts obtaining certificates for the hosts and returns immediately.
	Obtain(hosts ...string)
}

// Certificate describes whether a host can be served over TLS.
type Certificate struct {
	Status  string     // not_needed, unavailable, pending, issued or failed
	Expires *time.Time // expiry of an issued certificate
	Error   string     // why it failed, as one sentence
}

// States of a certificate.
const (
	CertificateNotNeeded   = "not_needed"  // the base URL has no TLS, as in development
	CertificateUnavailable = "unavailable" // this installation obtains no certificates, so links use its own host
	CertificatePending     = "pending"
	CertificateIssued      = "issued"
	CertificateFailed      = "failed"
)

// AllowServed returns a function that decides which hosts may have a certificate: tracking hosts whose CNAME
// record was seen at least once. This includes hosts whose record has since disappeared, because sent mail
// contains their links.
func AllowServed(d *db.DB) func(ctx context.Context, host string) error {
	return func(ctx context.Context, host string) error {
		found, err := d.Ent.TrackingHost.Query().Where(trackinghost.Host(host), trackinghost.VerifiedAtNotNil()).
			Exist(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("tracking host: %w", err)
		case !found:
			return fmt.Errorf("%s is not a tracking host", host)
		}
		return nil
	}
}
