package assembly

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
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
	var notes []string
	if in.DNSOnly || cfg.Database.Embedded() && !holdsData(cfg.DataDir) {
		notes = append(notes, "Without a database: ownership and keys are not looked at.")
		seen, err = domains.Inspect(ctx, inspection)
	} else {
		sealed := findKeys(&cfg)
		err = tool(ctx, cfg, func(ctx context.Context, s *store, _ *slog.Logger) error {
			inspection.DB = s.db
			if inspection.Box = s.box; !sealed {
				inspection.Box = nil
				notes = append(notes, "Without POSTRIDER_MASTER_KEY: keys were compared with their records, no sample was signed.")
			}
			seen, err = domains.Inspect(ctx, inspection)
			return err
		})
	}
	if err != nil {
		return "", false, err
	}
	if strings.HasSuffix(cfg.Names.ReturnPathHost, ".test") { // RFC 2606: nobody's mail goes there
		notes = append(notes, "The names expected are those of development mode: give POSTRIDER_BASE_URL as the service has it for its own.")
	}
	return domainTable(seen, notes)
}

// findKeys tells whether there are keys that open what the database has sealed.
// Development mode keeps its key beside its own database; none is made here.
func findKeys(cfg *config.Config) bool {
	if len(cfg.Secrets.Keys) > 0 {
		return true
	}
	file := filepath.Join(cfg.DataDir, "master.key")
	if _, err := os.Stat(file); err != nil || !cfg.Database.Embedded() {
		return false
	}
	cfg.Secrets.KeyFile = file
	return true
}

func domainTable(seen []domains.Inspected, notes []string) (string, bool, error) {
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
	for _, note := range notes {
		fmt.Fprintln(&out, note)
	}
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
