package assembly

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/runtime/blob"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/rspamd"
	"github.com/postrider/postrider/runtime/setting"
	"github.com/postrider/postrider/runtime/telemetry"
)

// inboundPeers are whom the module inbound asks about messages, and where it keeps them.
var inboundPeers = fx.Provide(newVerifier, newSpamFilter, newObjects)

func newVerifier(resolver *dnsx.Resolver, budget *intake.Budget, log *slog.Logger) inbound.Verifier {
	return authn.New(authn.Config{Resolver: resolver.SMTP(), Logger: log, Memory: func(ctx context.Context, from netip.Addr, octets int64) (func(), error) {
		return budget.Work(ctx, intake.Owner{Remote: from}, octets, hashPatience)
	}})
}

// hashPatience is more than a verification has time in all.
const hashPatience = time.Minute

// newSpamFilter is nil without one.
func newSpamFilter(cfg setting.Values) (inbound.SpamFilter, error) {
	if inbound.RspamdURL.Of(cfg) == "" {
		return nil, nil //nolint:nilnil // the zero value says that there is none
	}
	return rspamd.New(rspamd.Config{URL: inbound.RspamdURL.Of(cfg)})
}

// newObjects is nil where contents stay in the database. A store that does not answer
// is told of and no reason not to start: mail is received without it.
func newObjects(lc fx.Lifecycle, cfg setting.Values, log *slog.Logger) (inbound.Objects, error) {
	if inbound.Blobs.Of(cfg).Bucket == "" {
		return nil, nil //nolint:nilnil // the zero value says that there is none
	}
	store, err := blob.S3(inbound.Blobs.Of(cfg))
	if err != nil {
		return nil, fmt.Errorf("POSTRIDER_BLOBS: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	lc.Append(fx.StartStopHook(func() { go checkObjects(ctx, store, log) }, cancel))
	return store, nil
}

func checkObjects(ctx context.Context, store blob.Store, log *slog.Logger) {
	if err := store.Check(ctx); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "POSTRIDER_BLOBS: the object store does not answer as it should; what is received stays in the database until it does", telemetry.KeyError, err)
	}
}
