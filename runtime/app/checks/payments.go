package checks

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/billing/desk"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/doctor"
)

// billingDesk is the operator's view of the payment provider.
func billingDesk(p Params) (*desk.Service, error) {
	service, err := accounts.New(accounts.Params{DB: p.DB, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	return desk.New(p.DB, plans.New(p.DB, service), billing.StripeKey.Get(p.Config), billing.StripeURL.Get(p.Config),
		config.BaseURL.Get(p.Config))
}

// checkPayments checks that plans and prices match, and that usage is reported in time.
func checkPayments(service *desk.Service) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		const expected = "plans match the prices at the payment provider, and its events arrive here"
		found, err := service.Check(ctx)
		if err != nil {
			return []doctor.Finding{{Check: "billing", Level: doctor.Warning, Found: err.Error(), Expected: expected,
				Do: "Check POSTRIDER_STRIPE_KEY and that this machine can connect to the payment provider. Mail is not affected."}}
		}
		all := make([]doctor.Finding, 0, len(found)+1)
		for _, f := range found {
			all = append(all, doctor.Finding{Check: "billing." + f.About, Level: doctor.Error, Found: f.What,
				Expected: expected, Do: f.Do})
		}
		if len(found) == 0 {
			all = append(all, doctor.Finding{Check: "billing", Found: expected, Expected: expected})
		}
		state, err := service.State(ctx)
		if err != nil {
			return all
		}
		usage := doctor.Finding{Check: "billing.usage", Expected: "usage of metered plans is reported within two hours",
			Found: fmt.Sprintf("%d hours are waiting, the oldest since %s", state.Backlog.Hours, state.Backlog.Oldest)}
		switch {
		case len(state.Backlog.Stuck) > 0:
			usage.Level, usage.Found, usage.Do = doctor.Error, fmt.Sprintf("%d hours are stuck",
				len(state.Backlog.Stuck)),
				"Run postrider admin billing usage to see which hours and why. They are not billed."
		case state.Backlog.Oldest.Hours() > 2:
			usage.Level, usage.Do = doctor.Warning, "Check the log: the payment provider does not accept usage."
		case state.Backlog.Hours == 0:
			usage.Found = "nothing waits"
		}
		return append(all, usage)
	}
}
