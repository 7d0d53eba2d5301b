package tracking

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/trackinghost"
	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// linkBase is the scheme and host of a domain's links, and the host for which their tokens are issued.
type linkBase struct{ url, host string }

// linkBases determines the scheme and host for links in a domain's new mail.
type linkBases struct {
	config       Config
	db           *db.DB
	certificates hosts.Certificates
	log          *slog.Logger
	known        *cache.Cache[domainKey, linkBase]
}

type domainKey struct{ accountID, domainID string }

const maxBases = 50_000

func newBases(config Config, d *db.DB, certificates hosts.Certificates, log *slog.Logger) *linkBases {
	return &linkBases{config: config, db: d, certificates: certificates, log: log,
		known: cache.New(cache.Config[domainKey, linkBase]{Max: maxBases, TTL: config.HostTTL,
			LoadTimeout: hostTimeout})}
}

// baseFor returns the domain's tracking host if the latest check found its CNAME and the host can be served.
// Otherwise, and if the database is unavailable, it returns the base URL of the installation, whose links
// always work.
func (b *linkBases) baseFor(ctx context.Context, accountID, domainID string) linkBase {
	base, err := b.known.Get(ctx, domainKey{accountID, domainID}, b.loadBase)
	if err != nil {
		b.log.WarnContext(ctx, "cannot look up the tracking host, links use the base URL", telemetry.KeyDomainID,
			domainID, telemetry.KeyError, err)
		return linkBase{b.config.BaseURL, ownHost}
	}
	return base
}

const hostTimeout = 3 * time.Second

func (b *linkBases) loadBase(ctx context.Context, key domainKey) (linkBase, error) {
	row, err := b.db.Ent.TrackingHost.Query().
		Where(trackinghost.AccountID(key.accountID), trackinghost.DomainID(key.domainID),
			trackinghost.StatusEQ(trackinghost.StatusVerified), trackinghost.FailingSinceIsNil()).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return linkBase{b.config.BaseURL, ownHost}, nil
	case err != nil:
		return linkBase{}, fmt.Errorf("tracking host: %w", err)
	case !weburl.Secure(b.config.BaseURL):
		return linkBase{b.config.withHost(row.Host), row.Host}, nil
	case b.certificates != nil && b.certificates.Ready(ctx, row.Host):
		return linkBase{weburl.TLS + row.Host, row.Host}, nil
	}
	return linkBase{b.config.BaseURL, ownHost}, nil
}

// withHost returns the base URL with another host, for development mode: the port stays, and there is no TLS.
func (c Config) withHost(host string) string {
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return c.BaseURL
	}
	if port := base.Port(); port != "" {
		host += ":" + port
	}
	return weburl.Plain + host
}
