package hosts

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent/trackinghost"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Certificates serves tracking hosts over TLS. It is nil where nothing does.
type Certificates interface {
	// Ready tells whether the host can be served now.
	Ready(ctx context.Context, host string) bool
	Certificate(ctx context.Context, host string) Certificate
	// Obtain sees to it that the hosts have certificates, soon. It never waits.
	Obtain(hosts ...string)
}

// Certificate says whether a host can be served over TLS.
type Certificate struct {
	Status  string     // not_needed, unavailable, pending, issued, failed
	Expires *time.Time // of the issued one
	Error   string     // why it failed, one sentence
}

// What a certificate's status can be.
const (
	CertificateNotNeeded   = "not_needed"  // the installation is reached without TLS: development
	CertificateUnavailable = "unavailable" // nothing here gets certificates: links keep the installation's own host
	CertificatePending     = "pending"
	CertificateIssued      = "issued"
	CertificateFailed      = "failed"
)

// Served gives the decision which hosts may have a certificate: tracking hosts whose
// CNAME record was seen, also when it has gone since, for links that were sent.
func Served(d *db.DB) func(ctx context.Context, host string) error {
	return func(ctx context.Context, host string) error {
		found, err := d.Ent.TrackingHost.Query().Where(trackinghost.Host(host), trackinghost.VerifiedAtNotNil()).Exist(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("tracking host: %w", err)
		case !found:
			return fmt.Errorf("%s is no tracking host", host)
		}
		return nil
	}
}
