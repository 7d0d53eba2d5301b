package assembly

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/postrider/postrider/modules/devinbox"
	inboxpages "github.com/postrider/postrider/rest/devinbox"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/store"
)

// announce seeds what the mode wants seeded and says where everything is.
func announce(ctx context.Context, cfg config.Config, o Options, s *store.Store, seeds seeder, modules []Module, log *slog.Logger) error {
	if err := seeds.sandbox(ctx); err != nil {
		return err
	}
	if cfg.Mode != config.Dev {
		log.InfoContext(ctx, "ready", "base_url", cfg.HTTP.BaseURL)
		return nil
	}
	d, err := seeds.development(ctx, cfg.DataDir)
	if err != nil {
		return err
	}
	inbox := ""
	if slices.ContainsFunc(modules, func(m Module) bool { return m.Name == "devinbox" }) {
		inbox = inboxpages.Prefix
	}
	ready := newReady(cfg, s, d, inbox)
	if seeds.Inbound != nil {
		addr := seeds.Inbound.Addr()
		ready.InboundAddr = &addr
	}
	if o.ReadyFile != "" {
		if err := writeReady(o.ReadyFile, ready); err != nil {
			return err
		}
	}
	if o.OnReady != nil {
		o.OnReady(ready)
	}
	return printBanner(o.Out, cfg, ready)
}

const banner = `
  Postrider is ready, in DEVELOPMENT MODE: %s

    base URL   %s
    account    %s
    API key    %s
    SMTP       %s
    receives   %s
    inbox      %s
    docs       %s/docs
%s
  Send a first mail:

curl %s/emails -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d '{"from":"Postrider <hello@%s>","to":"you@example.com","subject":"Hello from Postrider","html":"<h1>It works</h1><p>Your first mail.</p>"}'

  Ctrl-C drains and stops.

`

func printBanner(w io.Writer, cfg config.Config, r Ready) error {
	where := "no login, and mail is caught in the inbox instead of leaving this machine."
	if cfg.Mail.Outbound.How != config.Capture {
		where = "no login. MAIL LEAVES THIS MACHINE (POSTRIDER_OUTBOUND=" + string(cfg.Mail.Outbound.How) + ")."
	}
	played := ""
	if domains := playedConfig(cfg).Domains; r.InboxURL != nil && len(domains) > 0 {
		played = "    failures   " + strings.Join(devinbox.Parts(), "@ ") + "@ at " + domains[0] + ", with +anything behind the name\n"
	}
	inbox, smtp, received, domain := "(off)", "(off)", "(off)", "your-verified-domain"
	if r.Relay != nil {
		smtp = r.Relay.Addr + " (STARTTLS) or " + r.Relay.TLSAddr + " (TLS), user " + r.Relay.Username + ", password " + r.Relay.Password
	}
	if r.InboundAddr != nil {
		received = *r.InboundAddr + " (SMTP, as other mail servers come)"
	}
	if r.InboxURL != nil {
		inbox = *r.InboxURL
	}
	if r.VerifiedDomain != nil {
		domain = *r.VerifiedDomain
	}
	_, err := fmt.Fprintf(w, banner, where, r.BaseURL, r.AccountEmail, r.APIKey, smtp, received, inbox, r.APIURL, played, r.APIURL, r.APIKey, domain)
	return err
}
