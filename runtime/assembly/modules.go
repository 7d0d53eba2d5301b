package assembly

import (
	"fmt"
	"slices"
	"strings"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/bounces"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/modules/retention"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/delivery"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/rest"
	restaccount "github.com/postrider/postrider/rest/account"
	restcontacts "github.com/postrider/postrider/rest/contacts"
	restdomains "github.com/postrider/postrider/rest/domains"
	restemails "github.com/postrider/postrider/rest/emails"
	resteventlog "github.com/postrider/postrider/rest/eventlog"
	restreceived "github.com/postrider/postrider/rest/received"
	restsuppressions "github.com/postrider/postrider/rest/suppressions"
	resttemplates "github.com/postrider/postrider/rest/templates"
	restwebhooks "github.com/postrider/postrider/rest/webhooks"
	"github.com/postrider/postrider/runtime/config"
)

// Module is a row of the registry: everything that the assembly, the tests and
// `postrider modules` know about a domain module.
type Module struct {
	Name     string
	Line     string   // what it is for
	Requires []string // must be on with it
	Uses     []string // served too, when on
	Always   bool     // cannot be switched off
	Dev      bool     // exists in development mode only
	Option   fx.Option
	// Edges gives its routes to the assembly; Operations are the same routes
	// without services, for the OpenAPI document.
	Edges      fx.Option
	Operations []rest.Routes
}

// Modules is the registry, every module after those it requires.
func Modules() []Module { return slices.Clone(registry) }

var registry = []Module{
	{
		Name: "accounts", Line: "accounts, users, API keys, plans and their limits", Always: true,
		Option: accounts.Module, Edges: accountsEdges, Operations: []rest.Routes{restaccount.Routes((*accounts.Service)(nil)), restaccount.KeyRoutes((*accounts.Service)(nil))},
	},
	{
		Name: "domains", Line: "sending domains: keys, DNS records, verification, the sandbox domain",
		Requires: []string{"accounts"},
		Option:   domains.Module, Edges: domainsEdges, Operations: []rest.Routes{restdomains.Routes((*domains.Service)(nil)), restdomains.DNSRoutes((*domains.Publisher)(nil))},
	},
	{
		Name: "suppression", Line: "addresses that must not be written to, and the page where recipients unsubscribe",
		Requires: []string{"accounts"},
		Option:   suppression.Module, Edges: suppressionEdges, Operations: []rest.Routes{restsuppressions.Routes((*suppression.Service)(nil))},
	},
	{
		Name: "templates", Line: "messages with gaps: drafts, published versions, rendering",
		Requires: []string{"accounts"},
		Option:   templates.Module, Edges: templatesEdges, Operations: []rest.Routes{resttemplates.Routes((*templates.Service)(nil))},
	},
	{
		Name: "tracking", Line: "counts opens and clicks, under a host of the sender's own if wanted",
		Requires: []string{"accounts", "domains"},
		Option:   tracking.Module, Edges: trackingEdges, Operations: []rest.Routes{restdomains.TrackingHostRoutes((*tracking.Service)(nil))},
	},
	{
		Name: "outbound", Line: "the ways out: smarthosts, source addresses and their warm-up",
		Requires: []string{"accounts", "domains"},
		Option:   outbound.Module, Edges: outboundEdges,
	},
	{
		Name: "sending", Line: "accepts messages, signs them and delivers them over SMTP",
		Requires: []string{"accounts", "domains", "suppression", "templates", "outbound"}, Uses: []string{"tracking"},
		Option: fx.Options(records.Module, queue.Module, delivery.Module, sending.Module), Edges: sendingEdges, Operations: []rest.Routes{restemails.Routes((*sending.Service)(nil), (*records.Service)(nil)), restwebhooks.TestEventRoutes(nil, nil)},
	},
	{
		Name: "bounces", Line: "bounces and complaints that come back to our return paths",
		Requires: []string{"accounts", "sending"},
		Option:   bounces.Module, Edges: bouncesEdges,
	},
	{
		Name: "inbound", Line: "receives mail for domains that want it, keeps it, replies and forwards",
		Requires: []string{"accounts", "domains"}, Uses: []string{"sending"},
		Option: inbound.Module, Edges: inboundEdges, Operations: []rest.Routes{restreceived.Routes((*inbound.Service)(nil), true)},
	},
	{
		Name: "relay", Line: "takes mail from programs over SMTP, under the rules of the API",
		Requires: []string{"accounts", "sending"},
		Option:   relay.Module, Edges: relayEdges, Operations: []rest.Routes{restaccount.SMTPCredentialRoutes((*relay.Service)(nil))},
	},
	{
		Name: "webhooks", Line: "tells accounts' endpoints what has happened, signed, with retries, a log and replays",
		Requires: []string{"accounts"}, Uses: []string{"sending"},
		Option: webhooks.Module, Edges: webhooksEdges, Operations: []rest.Routes{restwebhooks.Routes((*webhooks.Service)(nil)), restwebhooks.DeliveryRoutes((*webhooks.Service)(nil))},
	},
	{
		Name: "retention", Line: "deletes what is older than an account keeps it, and erases a recipient on demand",
		Requires: []string{"accounts"}, Uses: []string{"sending", "suppression", "tracking", "inbound", "webhooks"},
		Option: retention.Module, Edges: retentionEdges, Operations: []rest.Routes{restcontacts.Routes(nil)},
	},
	{
		Name: "eventlog", Line: "shows an account its events in order, in pages and as streams",
		Requires: []string{"accounts"},
		Option:   eventlog.Module, Edges: eventlogEdges, Operations: []rest.Routes{resteventlog.Routes(nil)},
	},
	{
		Name: "devinbox", Line: "catches outbound mail in development mode and shows it at /dev/inbox", Dev: true,
		Option: devinbox.Module, Edges: fx.Options(),
	},
}

// Select gives the modules that are to run: all that exist in the mode, less
// those that are off. Every reason why the set cannot run is in the error.
func Select(on []string, dev bool) ([]Module, error) {
	var chosen []Module
	var wrong config.Mistakes
	mistake := func(format string, args ...any) {
		wrong = append(wrong, config.Mistake{Setting: "POSTRIDER_MODULES", Problem: fmt.Sprintf(format, args...)})
	}
	for _, m := range registry {
		switch {
		case m.Dev && !dev:
		case slices.Contains(on, m.Name):
			chosen = append(chosen, m)
		case m.Always:
			mistake("module %s cannot be switched off", m.Name)
		}
	}
	for _, m := range chosen {
		for _, needed := range m.Requires {
			if !slices.Contains(on, needed) {
				mistake("module %s requires %s: switch %s on, or %s off too", m.Name, needed, needed, m.Name)
			}
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return chosen, nil
}

// ModuleNames lists what POSTRIDER_MODULES may name in the mode.
func ModuleNames(dev bool) []string {
	var names []string
	for _, m := range registry {
		if dev || !m.Dev {
			names = append(names, m.Name)
		}
	}
	return names
}

// ModuleTable is what `postrider modules` prints.
func ModuleTable() string {
	rows := [][]string{{"MODULE", "REQUIRES", "USES", "WHAT FOR"}}
	for _, m := range registry {
		line := m.Line
		if m.Always {
			line += " (always on)"
		}
		rows = append(rows, []string{m.Name, orDash(m.Requires), orDash(m.Uses), line})
	}
	var out strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&out, "%-11s %-52s %-10s %s\n", r[0], r[1], r[2], r[3])
	}
	return out.String()
}

func orDash(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}
