package desk_test

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/desk"
	"github.com/postrider/postrider/modules/billing/stripetest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

const prices = `
currency: eur
plans:
  pro: {amount: 2000}
  scale: {amount: 4900}
  pool: {amount: 9900, overage: "40"}
  dedicated: {amount: 49900, overage: "12.5"}
`

func newDesk(t *testing.T) (*desk.Service, *plans.Service, *stripetest.Stripe) {
	t.Helper()
	d, s := dbtest.New(t), stripetest.New(t)
	a, err := accounts.New(accounts.Params{DB: d, Cursors: page.NewCodec([]byte("0123456789abcdef")),
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	p := plans.New(d, a)
	service, err := desk.New(d, p, secret.New(stripetest.Key), s.URL, "https://mail.example.com")
	if err != nil {
		t.Fatal(err)
	}
	return service, p, s
}

func TestSetupCreatesOnlyMissingObjects(t *testing.T) {
	t.Parallel()
	service, p, _ := newDesk(t)
	if _, err := p.Set(t.Context(), "pool", plans.PlanChange{IncludedEmails: new(new(100_000))}); err != nil {
		t.Fatal(err)
	}
	found, err := service.Check(t.Context())
	if err != nil || len(found) != 6 { // four plans, the meter, the endpoint
		t.Errorf("before Setup, Check returned %+v, %v", found, err)
	}
	file, err := desk.ReadPrices([]byte(prices))
	if err != nil {
		t.Fatal(err)
	}
	done, err := service.Setup(t.Context(), file)
	// meter, 4 products, 4 prices, 2 metered prices, portal, endpoint
	if err != nil || done.Secret != stripetest.Secret || len(done.Made) != 13 {
		t.Errorf("Setup created %q, %v", done, err)
	}
	if again, err := service.Setup(t.Context(), file); err != nil || len(again.Made) != 0 || again.Secret != "" {
		t.Errorf("the second Setup created %q, %v", again, err)
	}
	if found, err := service.Check(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("after Setup, Check returned %+v, %v", found, err)
	}
	// Check finds a plan that was changed here.
	if _, err := p.Set(t.Context(), "pool", plans.PlanChange{IncludedEmails: new(new(50_000))}); err != nil {
		t.Fatal(err)
	}
	if found, err := service.Check(t.Context()); err != nil || len(found) != 1 || found[0].About != "pool" ||
		!strings.Contains(found[0].What, "includes 50000 emails here, but the price includes 100000") {
		t.Errorf("after changing the included volume, Check returned %+v, %v", found, err)
	}
	if done, err := service.Setup(t.Context(), file); err != nil || len(done.Made) != 1 ||
		!strings.HasPrefix(done.Made[0], "pool: metered price") {
		t.Errorf("the third Setup created %q, %v", done, err)
	}
	if found, err := service.Check(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("after the third Setup, Check returned %+v, %v", found, err)
	}
	state, err := service.State(t.Context())
	if err != nil || state.Customers != 0 || state.LastEvent != nil || state.Backlog.Hours != 0 {
		t.Errorf("the state is %+v, %v", state, err)
	}
	if err := service.Sync(t.Context(), "acc_none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a sync of an unknown account returned %v", err)
	}
}

func TestPriceFileErrorsNameFields(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"currency: EUR\nplans: {pro: {amount: 0}}": "currency plans.pro.amount",
		"currency: eur": "plans",
		"currency: eur\nplans: {pro: {amount: 1, overage: much}}":   "plans.pro.overage",
		"currency: eur\nplans: {pro: {amount: 1, overage: \"-1\"}}": "plans.pro.overage",
		"currency: eur\nplans: {pro: {amount: 1, price: 2}}":        "",
		"currency: [": "",
	} {
		_, err := desk.ReadPrices([]byte(text))
		if got := strings.Join(slices.Sorted(maps.Keys(fault.Classify(err).Fields)),
			" "); fault.KindOf(err) != fault.Invalid || got != want {
			t.Errorf("%q: %v, want the fields %q", text, err, want)
		}
	}
	service, _, _ := newDesk(t)
	_, err := service.Setup(t.Context(),
		desk.Prices{Currency: "eur", Plans: map[string]desk.Price{"gold": {Amount: 1}, "pool": {Amount: 1}}})
	if got := strings.Join(slices.Sorted(maps.Keys(fault.Classify(err).Fields)),
		" "); got != "plans.gold plans.pool.overage" {
		t.Errorf("Setup with unknown plans returned %v", err)
	}
	if _, err := desk.New(nil, nil, secret.String{}, "", ""); err != desk.ErrNoKey { //nolint:errorlint // it is that one
		t.Errorf("New without a key returned %v", err)
	}
}
