package graph

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Doctor returns the problems of the installation that the latest check found.
type Doctor interface {
	Problems() []InstallationFinding
}

// InstallationFinding is a problem of the installation.
type InstallationFinding struct {
	Check    string // such as dns.spf
	Level    string // error, warning or another
	Found    string
	Expected string
	Do       string
}

// healthCost covers the checks of domains, endpoints, queue and caps.
const healthCost = 300

func healthCosts(c *generated.ComplexityRoot) {
	c.Query.Health = func(child int) int { return healthCost + child }
}

// Mail that has been waiting for longer is reported.
const (
	longWait  = time.Hour
	mostTold  = 20  // destinations
	nearlyAll = 0.8 // share of a cap
)

// findings are the checks of an account, one for each subject.
var findings = []struct {
	module string
	look   func(ctx context.Context, r *Resolver, a accounts.Account) ([]*model.HealthFinding, error)
}{
	{moduleAccounts, accountFindings},
	{"domains", domainFindings},
	{"webhooks", webhookFindings},
	{"sending", queueFindings},
}

func accountFindings(ctx context.Context, r *Resolver, a accounts.Account) (all []*model.HealthFinding, err error) {
	if a.Suspended {
		all = append(all, &model.HealthFinding{Code: "account.suspended", Level: model.HealthLevelError,
			Found: "The account is suspended and sends nothing.", Do: "Contact the operator of this service."})
	}
	if a.PaymentDue {
		all = append(all, &model.HealthFinding{Code: "account.payment_due", Level: model.HealthLevelError,
			Found: "A payment is overdue.", Do: "Open billing and pay the open invoice."})
	}
	if !a.IsUnlocked(true) {
		all = append(all, &model.HealthFinding{Code: "account.sandbox", Level: model.HealthLevelNotice,
			Found:    "The account can send only to its own address.",
			Expected: "a verified domain and a payment method", Do: "Verify a domain, then add a payment method."})
	}
	used, err := r.parts.Accounts.Usage(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	for _, cap := range []struct {
		period string
		used   int
		most   *int
	}{{"day", int(used.Day), used.DailyCap}, {"month", int(used.Month), used.MonthlyCap}} {
		if cap.most != nil && *cap.most > 0 && float64(cap.used) >= nearlyAll*float64(*cap.most) {
			level := model.HealthLevelWarning
			if cap.used >= *cap.most {
				level = model.HealthLevelError
			}
			all = append(all, &model.HealthFinding{Code: "account.cap", Level: level,
				Found: fmt.Sprintf("%d of %d emails per %s used.", cap.used, *cap.most, cap.period),
				Do:    "Change the plan or the account's own limit."})
		}
	}
	return all, nil
}

// everyOf reads a list to its end, up to ten pages.
func everyOf[T any](list func(page.Request) (page.Page[T], error)) (all []T, err error) {
	request := page.Request{Limit: page.MaxLimit}
	for range mostPages {
		found, err := list(request)
		if err != nil {
			return nil, err
		}
		all = append(all, found.Items...)
		if request.Cursor = found.NextCursor; !found.HasMore {
			break
		}
	}
	return all, nil
}

func domainFindings(ctx context.Context, r *Resolver, a accounts.Account) (all []*model.HealthFinding, err error) {
	list, err := everyOf(func(p page.Request) (page.Page[*ent.Domain], error) {
		return r.parts.Domains.List(ctx,
			a.ID, p)
	})
	for _, d := range list {
		f := &model.HealthFinding{SubjectID: &d.ID, Expected: "all required DNS records",
			Do: "Compare the domain's records with those at your DNS provider."}
		switch d.Status {
		case domain.StatusTemporaryFailure:
			f.Code, f.Level, f.Found = "domain.records", model.HealthLevelError, d.Name+
				": DNS records are missing or wrong. Sending continues for 72 hours after the first failed check."
		case domain.StatusFailed:
			f.Code, f.Level, f.Found = "domain.records", model.HealthLevelError, d.Name+
				": DNS records stayed invalid, so sending is disabled."
		case domain.StatusPending:
			f.Code, f.Level, f.Found, f.Do = "domain.pending", model.HealthLevelNotice, d.Name+
				" cannot send yet: DNS records are missing.", "Add the domain's records at your DNS provider."
		default:
			continue
		}
		all = append(all, f)
	}
	return all, err
}

func webhookFindings(ctx context.Context, r *Resolver, a accounts.Account) (all []*model.HealthFinding, err error) {
	list, err := everyOf(func(p page.Request) (page.Page[*ent.Webhook], error) {
		return r.parts.Webhooks.List(ctx, a.ID, p)
	})
	for _, w := range list {
		f := &model.HealthFinding{Code: "webhook.disabled", Level: model.HealthLevelError, SubjectID: &w.ID,
			Expected: "a 2xx response",
			Do:       "Fix the endpoint, enable it, and recover the missed events."}
		switch w.DisabledReason {
		case "gone":
			f.Found = w.URL + " responded 410 Gone and was disabled."
		case "failing":
			f.Found = w.URL + " failed 30 times in a row and was disabled."
		default:
			continue
		}
		all = append(all, f)
	}
	return all, err
}

func queueFindings(ctx context.Context, r *Resolver, a accounts.Account) (all []*model.HealthFinding, err error) {
	waiting, err := r.parts.Queue.BacklogOf(ctx, a.ID, queue.Selection{})
	slices.SortFunc(waiting, func(x, y queue.Backlog) int { return int((y.Oldest - x.Oldest) / time.Second) })
	for _, b := range waiting {
		if b.Oldest < longWait || len(all) == mostTold {
			continue
		}
		f := &model.HealthFinding{Code: "queue.old", Level: model.HealthLevelWarning,
			Found: fmt.Sprintf("%d recipients at %s are queued, the oldest for %s.", b.Total(), b.Destination,
				b.Oldest.Round(time.Minute)),
			Do: "See the queue for the receiving server's response."}
		if b.Diagnostic != "" {
			f.Found += " Last response: " + b.Diagnostic
		}
		all = append(all, f)
	}
	return all, err
}

var healthLevels = map[string]model.HealthLevel{"error": model.HealthLevelError, "warning": model.HealthLevelWarning}

// installationFindings returns the findings of the doctor, or nil if it does not run in this mode.
func (r *Resolver) installationFindings() []*model.HealthFinding {
	d := r.parts.Doctor
	out := []*model.HealthFinding{}
	if d == nil {
		return out
	}
	for _, f := range d.Problems() {
		level, known := healthLevels[f.Level]
		if !known {
			level = model.HealthLevelNotice
		}
		out = append(out, &model.HealthFinding{Code: f.Check, Level: level, Found: f.Found, Expected: f.Expected,
			Do: f.Do})
	}
	return out
}

// worstFirst sorts findings by severity and keeps the order of equals.
func worstFirst(all []*model.HealthFinding) []*model.HealthFinding {
	order := []model.HealthLevel{model.HealthLevelError, model.HealthLevelWarning, model.HealthLevelNotice}
	slices.SortStableFunc(all, func(x, y *model.HealthFinding) int {
		return slices.Index(order, x.Level) - slices.Index(order, y.Level)
	})
	return all
}
