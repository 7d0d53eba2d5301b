package billing

import (
	"database/sql"
	"log/slog"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/stripetest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// 3,000 emails per month, 100 per day and one domain. With billing enabled, these caps apply to accounts
// without a subscription. With billing disabled, new accounts never reach a cap, and these apply to accounts
// that the operator moves to the free plan.
func TestCapsOfFreePlan(t *testing.T) {
	t.Parallel()
	var off setting.Values
	on := WebhookSecrets.Override(StripeKey.Override(off, secret.New(stripetest.Key)),
		[]secret.String{secret.New(stripetest.Secret)})
	for name, c := range map[string]struct {
		values setting.Values
		on     bool
		plan   string // plan of new accounts
	}{
		"off": {off, false, accounts.PlanScale},
		"on":  {on, true, accounts.PlanFree},
		"off, with a default plan set by the operator": {accounts.DefaultPlan.Override(off, accounts.PlanPro), false, accounts.PlanPro},
		"on, with a default plan set by the operator":  {accounts.DefaultPlan.Override(on, accounts.PlanScale), true, accounts.PlanScale},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t)
			log := slog.New(slog.DiscardHandler)
			a, err := accounts.New(accounts.Params{Config: accounts.Config{DefaultPlan: DefaultPlan(c.values)}, DB: d,
				Cursors: page.NewCodec(make([]byte, 16)), Logger: log})
			if err != nil {
				t.Fatal(err)
			}
			s, err := New(Params{Config: ConfigOf(c.values), DB: d, Accounts: a, Plans: plans.New(d, a),
				Cursors: page.NewCodec(make([]byte, 16)), Logger: log})
			if err != nil {
				t.Fatal(err)
			}
			if s.Enabled() != c.on {
				t.Fatalf("billing is enabled: %v, want %v", s.Enabled(), c.on)
			}
			made, err := a.CreateAccount(t.Context(),
				accounts.NewAccount{Name: "Acme", Email: "ada@example.com", Plan: DefaultPlan(c.values)})
			if err != nil {
				t.Fatal(err)
			}
			send := func(n int) (granted int, last *fault.Error) {
				t.Helper()
				list := make([]accounts.EmailUsage, n)
				for i := range list {
					list[i].AccountID = made.ID
				}
				err := d.InHotTx(t.Context(), func(tx *sql.Tx) error {
					refused, err := a.Consume(t.Context(), tx, list)
					for _, r := range refused {
						if r == nil {
							granted++
						} else {
							last = fault.Classify(r)
						}
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return granted, last
			}
			if o, err := s.Overview(t.Context(), made.ID); err != nil || o.Plan.ID != c.plan || o.Enabled != c.on {
				t.Fatalf("a new account is %+v, %v, want the plan %s", o, err, c.plan)
			}
			if c.plan != accounts.PlanFree {
				if granted, refused := send(3101); granted != 3101 {
					t.Errorf("on the plan %s, %d of 3,101 emails were accepted: %v", c.plan, granted, refused)
				}
				if _, err := a.UpdateAccount(t.Context(), made.ID,
					accounts.AccountChange{Plan: new(accounts.PlanFree)}); err != nil {
					t.Fatal(err)
				}
			}
			granted, refused := send(101)
			if granted != 100 || refused.Kind != fault.Limit || refused.Code != fault.CodePlanLimit ||
				refused.UpgradeURL != accounts.UpgradeURL || refused.Details["cap"] != "daily" ||
				refused.Details["limit"] != 100 {
				t.Errorf("on the free plan, %d of 101 emails per day were accepted: %+v", granted, refused)
			}
			for _, statement := range []string{
				`UPDATE usages SET emails = 2999 WHERE period = to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')`,
				`UPDATE usages SET emails = 0 WHERE period = to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
			} {
				if _, err := d.SQL.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			granted, refused = send(2)
			if granted != 1 || refused.Code != fault.CodePlanLimit || refused.Details["cap"] != "monthly" ||
				refused.Details["limit"] != 3000 {
				t.Errorf("on the free plan, %d emails were accepted after 2,999 in the month: %+v", granted, refused)
			}
			o, err := s.Overview(t.Context(), made.ID)
			if err != nil || o.Plan.ID != accounts.PlanFree || o.Plan.MaxDomains != 1 || o.Emails != 3000 ||
				o.MonthlyCap == nil || *o.MonthlyCap != 3000 || o.Unlocked {
				t.Errorf("the overview is %+v, %v", o, err)
			}
		})
	}
}
