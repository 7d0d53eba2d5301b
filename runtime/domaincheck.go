package runtime

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/config"
)

// DomainCheck is what `postrider domain check` takes.
type DomainCheck struct {
	Name, Selector, AccountID string
	DNSOnly                   bool
}

// CheckDomain looks a domain's records up and gives a table, and whether all that
// verification needs is there. With a database the domain's own values are
// expected; without one it is what DNS alone can tell.
func CheckDomain(ctx context.Context, cfg config.Config, in DomainCheck) (table string, sound bool, err error) {
	inspection := domains.Inspection{Config: domainsConfig(cfg), Name: in.Name, Selector: in.Selector, AccountID: in.AccountID}
	if inspection.Resolver, err = newResolver(cfg, slog.New(slog.DiscardHandler)); err != nil {
		return "", false, err
	}
	defer inspection.Resolver.Close()
	var seen []domains.Inspected
	if in.DNSOnly || cfg.Database.Embedded() && !holdsData(cfg.DataDir) {
		seen, err = domains.Inspect(ctx, inspection)
	} else {
		err = tool(ctx, cfg, func(ctx context.Context, s *store, _ *slog.Logger) error {
			inspection.DB = s.db
			seen, err = domains.Inspect(ctx, inspection)
			return err
		})
	}
	if err != nil {
		return "", false, err
	}
	return domainTable(seen)
}

func domainTable(seen []domains.Inspected) (string, bool, error) {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RECORD\tEXPECTED\tFOUND\tSTATE\tWHAT TO DO")
	sound := true
	for _, r := range seen {
		state, what := string(r.Status), r.Error
		if r.Unanswered {
			state = "no answer"
		}
		if r.Required && r.Status != domains.Verified {
			sound = false
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\t%s\n", r.Type, r.Name, short(r.Value), orNone(r.Found), state, what)
	}
	err := w.Flush()
	return out.String(), sound, err
}

func orNone(found []string) string {
	var parts []string
	for _, value := range found {
		parts = append(parts, short(value))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, " | ")
}

// short keeps a key from making the table unreadable.
func short(value string) string {
	if r := []rune(value); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return value
}
