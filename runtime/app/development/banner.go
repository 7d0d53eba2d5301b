package development

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
)

// Readers receive the addresses and credentials of the running service.
type Readers struct {
	File   string      // written for tools; may be empty
	Called func(Ready) // may be nil
	Out    io.Writer   // human-readable output
}

// Announce seeds the database and reports all addresses to the readers. All listeners are ready by then. It
// returns the first error of seeding or of a reader.
func (s Seeder) Announce(ctx context.Context, cfg setting.Values, opened *store.Store, to Readers) error {
	d, err := s.seed(ctx, config.DataDir.Get(cfg))
	if err != nil {
		return err
	}
	ready := s.ready(cfg, opened, d)
	if to.File != "" {
		if err := ready.write(to.File); err != nil {
			return err
		}
	}
	if s.Shown != nil {
		s.Shown.store(ready, cfg)
	}
	if to.Called != nil {
		to.Called(ready)
	}
	return ready.print(to.Out, cfg)
}

const banner = `
  Postrider is ready, in DEVELOPMENT MODE: %s

    base URL   %s
    account    %s
    API key    %s
    SMTP       %s
    receives   %s
    inbox      %s
    dashboard  %s
    docs       %s/docs
%s
  Send a first mail:

curl %s/emails -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d '{"from":"Postrider <hello@%s>","to":"you@example.com","subject":"Hello from Postrider","html":"<h1>It works</h1><p>Your first email.</p>"}'

  Ctrl-C drains and stops.

`

func (r Ready) print(w io.Writer, cfg setting.Values) error {
	where := "no sign-in needed, and mail is caught in the inbox instead of leaving this machine."
	if outbound.MainExit.Get(cfg).How != outbound.Capture {
		where = "no sign-in needed. MAIL LEAVES THIS MACHINE (POSTRIDER_OUTBOUND=" +
			string(outbound.MainExit.Get(cfg).How) + ")."
	}
	played := ""
	if domains := playedConfig(cfg).Domains; r.InboxURL != nil && len(domains) > 0 {
		played = "    failures   " + strings.Join(devinbox.ScenarioAddresses(), "@ ") + "@ at " + domains[0] +
			", with +anything after the name\n"
	}
	inbox, smtp, received, signIn, domain := "(off)", "(off)", "(off)", "(off)", "your-verified-domain"
	if r.Relay != nil {
		smtp = r.Relay.Addr + " (STARTTLS) or " + r.Relay.TLSAddr + " (TLS), user " + r.Relay.Username + ", password " +
			r.Relay.Password
	}
	if r.InboundAddr != nil {
		received = *r.InboundAddr + " (SMTP, for other mail servers)"
	}
	if r.InboxURL != nil {
		inbox = *r.InboxURL
	}
	if r.Owner != nil {
		signIn = r.Owner.link + " (signs you in)"
	}
	if r.VerifiedDomain != nil {
		domain = *r.VerifiedDomain
	}
	_, err := fmt.Fprintf(w, banner, where, r.BaseURL, r.AccountEmail, r.APIKey, smtp, received, inbox, signIn,
		r.APIURL, played, r.APIURL, r.APIKey, domain)
	return err
}
