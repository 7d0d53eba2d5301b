package billing

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Payments is the part of billing that the operations use.
type Payments interface {
	CardPage(ctx context.Context, accountID, returnPath string) (billing.HostedPage, error)
	PlanPage(ctx context.Context, accountID, planID, returnPath string) (billing.HostedPage, error)
	Preview(ctx context.Context, accountID, planID string) (billing.Quote, error)
	SetPlan(ctx context.Context, accountID, planID string) (billing.Overview, string, error)
	KeepPlan(ctx context.Context, accountID string) (billing.Overview, error)
	Portal(ctx context.Context, accountID, returnPath string) (string, error)
	Sync(ctx context.Context, accountID string) (billing.Overview, error)
	Invoices(ctx context.Context, accountID string, r page.Request) (page.Page[provider.Invoice], error)
}

var _ Payments = (*billing.Service)(nil)

type pageAnswer struct {
	URL       string            `json:"url" doc:"URL of a page of the payment provider." example:"https://checkout.stripe.com/c/pay/cs_live_a1"`
	ExpiresAt wire.OptionalTime `json:"expires_at" doc:"When the page expires. null if the provider sets no time."`
}

type urlAnswer struct {
	URL string `json:"url" doc:"The URL to open in the user's browser." example:"https://billing.stripe.com/p/session/a1"`
}

type lineRecord struct {
	Description string `json:"description" doc:"What is charged for." example:"Remaining time on Pool"`
	Amount      int64  `json:"amount" doc:"The amount in the smallest unit of the currency. Negative for a credit." example:"1234"`
}

type quoteAnswer struct {
	AmountDue   int64             `json:"amount_due" doc:"The amount due now, in minor units." example:"1234"`
	Currency    string            `json:"currency" doc:"The ISO 4217 code of the currency, in lower case." example:"eur"`
	Lines       []lineRecord      `json:"lines" nullable:"false" doc:"The lines that the change adds to the next invoice."`
	Effective   string            `json:"effective" enum:"now,period_end" doc:"When the change takes effect."`
	EffectiveAt wire.OptionalTime `json:"effective_at" doc:"When the change takes effect; null if immediately."`
}

type planAnswer struct {
	Billing   billingRecord `json:"billing" doc:"The billing state of the account after the change."`
	Effective string        `json:"effective" enum:"now,period_end" doc:"When the change takes effect."`
}

type invoiceRecord struct {
	ID          string            `json:"id" doc:"The ID of the invoice at the payment provider." example:"in_1a2b3c"`
	Number      *string           `json:"number" doc:"The number of the invoice. null for a draft." example:"ACME-0001"`
	Status      string            `json:"status" enum:"draft,open,paid,uncollectible,void" doc:"The status of the invoice."`
	Total       int64             `json:"total" doc:"Amount in minor units of the currency." example:"4900"`
	Currency    string            `json:"currency" doc:"The ISO 4217 code of the currency, in lower case." example:"eur"`
	PeriodStart wire.OptionalTime `json:"period_start" doc:"The start of the invoiced period. null if unknown."`
	PeriodEnd   wire.OptionalTime `json:"period_end" doc:"The end of the invoiced period. null if unknown."`
	URL         *string           `json:"url" doc:"URL of the page that shows the invoice and accepts the payment." example:"https://invoice.stripe.com/i/a1"`
	PDFURL      *string           `json:"pdf_url" doc:"The URL of the invoice as a PDF. null if there is none." example:"https://pay.stripe.com/invoice/a1/pdf"`
	CreatedAt   wire.OptionalTime `json:"created_at" doc:"When the invoice was created. null if unknown."`
}

// asks are the fields of the request bodies.
type asks struct{ Plan, ReturnPath string }

type payEdge struct{ pay Payments }

// PaymentRoutes returns the routes for purchases and payments.
func PaymentRoutes(service Payments) api.Routes {
	return api.NewRoutes("payments", func(a *api.API) {
		e := &payEdge{service}
		g := a.Tag(tagBilling, "")
		problems := []int{http.StatusConflict, http.StatusBadGateway}
		hosted := map[string]any{"url": "https://checkout.stripe.com/c/pay/cs_live_a1",
			"expires_at": exampleTime(1, 16, 9)}
		api.HandleBody(g, api.Operation{
			Method: http.MethodPost, Path: "/billing/payment-method", ID: "addPaymentMethod", Needs: rights.Billing,
			Slow: true, Confirmed: true, Problems: problems,
			Summary: "Create a payment method page",
			Description: "Creates a page of the payment provider, or returns the " +
				"open one.",
			Body: &api.Body{About: "URL that the page returns to.",
				Examples: map[string]any{"back": map[string]any{"return_path": "/settings/billing"}}},
			Example: hosted,
		}, backBody("AddPaymentMethod"),
			func(ctx context.Context, c *api.Call, _ *api.None, in asks) (pageAnswer, error) {
				return api.As(newPage)(e.pay.CardPage(ctx, c.AccountID, in.ReturnPath))
			})
		api.HandleBody(g, api.Operation{
			Method: http.MethodPost, Path: "/billing/checkout", ID: "checkOut", Needs: rights.Billing, Slow: true,
			Confirmed: true, Problems: problems,
			Summary: "Create a plan checkout page",
			Description: "Creates a page of the payment provider for an account without a " +
				"subscription. Otherwise fails with 409 `conflict`: use `PUT /billing/plan`. The plan takes effect " +
				"after payment.",
			Body:    &api.Body{About: "The plan.", Examples: map[string]any{"pro": map[string]any{"plan": "pro"}}},
			Example: hosted,
		}, planBody("CheckOut", true),
			func(ctx context.Context, c *api.Call, _ *api.None, in asks) (pageAnswer, error) {
				return api.As(newPage)(e.pay.PlanPage(ctx, c.AccountID, in.Plan, in.ReturnPath))
			})
		api.HandleBody(g, api.Operation{
			Method: http.MethodPost, Path: "/billing/plan/preview", ID: "previewPlan", Needs: rights.Billing,
			Slow: true, Problems: problems, Quiet: true,
			Summary: "Preview a change of plan", Description: "Returns the cost of a plan change and when it takes " +
				"effect.",
			Body: &api.Body{About: "The plan.", Examples: map[string]any{"pool": map[string]any{"plan": "pool"}}},
			Example: map[string]any{"amount_due": 1234, "currency": "eur",
				"lines":     []any{map[string]any{"description": "Remaining time on Pool", "amount": 1234}},
				"effective": "now", "effective_at": nil},
		}, planBody("PreviewPlan", false), e.previewChange)
		api.HandleBody(g, api.Operation{
			Method: http.MethodPut, Path: "/billing/plan", ID: "changePlan", Needs: rights.Billing, Slow: true,
			Confirmed: true, Problems: problems,
			Summary: "Change the plan",
			Description: "Changes the plan. An upgrade takes effect once the difference is paid; a downgrade, " +
				"including to `free`, at the end of the period. Fails with 409 `conflict` if the account has more " +
				"domains than the plan allows or another change is in progress, and with 409 `payment_due` while a " +
				"payment is overdue.",
			Body:    &api.Body{About: "The plan.", Examples: map[string]any{"pool": map[string]any{"plan": "pool"}}},
			Example: map[string]any{"billing": billingExample(), "effective": "now"},
		}, planBody("ChangePlan", false), e.changePlan)
		one := map[string]any{"billing": billingExample()}
		api.Handle(g, api.Operation{
			Method: http.MethodDelete, Path: "/billing/plan/pending", ID: "keepPlan", Needs: rights.Billing, Slow: true,
			Confirmed: true, Problems: problems,
			Summary: "Keep the plan", Description: "Cancels a plan change that is scheduled for the end of the " +
				"period.", Example: one,
		}, func(ctx context.Context, c *api.Call, _ *api.None) (billingAnswer, error) {
			return api.As(newBilling)(e.pay.KeepPlan(ctx, c.AccountID))
		})
		api.HandleBody(g, api.Operation{
			Method: http.MethodPost, Path: "/billing/portal", ID: "openPortal", Needs: rights.Billing, Slow: true,
			Confirmed: true, Problems: problems, Quiet: true,
			Summary: "Create a billing portal page",
			Description: "Creates a page of the payment provider for invoices, cards " +
				"and tax IDs. Plans cannot be changed there.",
			Body:    &api.Body{About: "URL that the page returns to.", Examples: map[string]any{"back": map[string]any{"return_path": "/settings/billing"}}},
			Example: map[string]any{"url": "https://billing.stripe.com/p/session/a1"},
		}, backBody("OpenPortal"), e.openPortal)
		api.Handle(g, api.Operation{
			Method: http.MethodPost, Path: "/billing/sync", ID: "syncBilling", Needs: rights.Billing, Slow: true,
			Problems: problems, Quiet: true,
			Summary: "Synchronize with the payment provider",
			Description: "Fetches the billing state from the payment provider, for example when the user returns " +
				"from its pages. The state is fetched at most once every five seconds; further requests return " +
				"the stored state.",
			Example: one,
		}, func(ctx context.Context, c *api.Call, _ *api.None) (billingAnswer, error) {
			return api.As(newBilling)(e.pay.Sync(ctx, c.AccountID))
		})
		api.List(g, api.Operation{
			Path: "/billing/invoices", ID: "listInvoices", Needs: rights.ReadBilling, Slow: true,
			Problems: []int{http.StatusBadGateway},
			Summary:  "List invoices", Description: "Lists invoices of the payment provider, newest first.",
			Example: invoiceExample(),
		}, api.Plural{Member: "invoices", Schema: "InvoiceList"},
			func(ctx context.Context, accountID string, r page.Request) (page.Page[provider.Invoice], error) {
				return service.Invoices(ctx, accountID, r)
			}, newInvoice)
	})
}

func backBody(name string) func(*asks) body.Object {
	return func(in *asks) body.Object { return body.Object{Name: name, Fields: []body.Field{returnField(in)}} }
}

func returnField(in *asks) body.Field {
	return body.Field{Name: "return_path", Type: body.Text(&in.ReturnPath).Length(0, 500),
		About: "Path of this installation that the page returns to. Defaults to /settings/billing."}
}

func planBody(name string, leads bool) func(*asks) body.Object {
	return func(in *asks) body.Object {
		o := body.Object{Name: name, Fields: []body.Field{{Name: "plan", Type: body.Text(&in.Plan), Need: body.Required,
			About: "ID of a plan listed by `GET /plans`."}}}
		if leads {
			o.Fields = append(o.Fields, returnField(in))
		}
		return o
	}
}

func newPage(p billing.HostedPage) pageAnswer {
	return pageAnswer{p.URL, wire.OptionalTime{At: p.Expires}}
}

func (e *payEdge) previewChange(ctx context.Context, c *api.Call, _ *api.None,
	in asks) (answer quoteAnswer, err error) {
	q, err := e.pay.Preview(ctx, c.AccountID, in.Plan)
	if err != nil {
		return answer, err
	}
	return quoteAnswer{AmountDue: q.AmountDue, Currency: q.Currency, Effective: q.Effective,
			EffectiveAt: wire.OptionalTime{At: q.At},
			Lines: wire.ListOf(q.Lines,
				func(l provider.Line) lineRecord { return lineRecord{l.Text, l.Amount} })},
		nil
}

func (e *payEdge) changePlan(ctx context.Context, c *api.Call, _ *api.None, in asks) (answer planAnswer, err error) {
	o, effective, err := e.pay.SetPlan(ctx, c.AccountID, in.Plan)
	if err != nil {
		return answer, err
	}
	return planAnswer{newBilling(o).Billing, effective}, nil
}

func (e *payEdge) openPortal(ctx context.Context, c *api.Call, _ *api.None, in asks) (urlAnswer, error) {
	url, err := e.pay.Portal(ctx, c.AccountID, in.ReturnPath)
	return urlAnswer{url}, err
}

func newInvoice(i provider.Invoice) invoiceRecord {
	return invoiceRecord{ID: i.ID, Number: wire.OrNull(i.Number), Status: i.Status, Total: i.Total,
		Currency: i.Currency, PeriodStart: wire.OptionalTime{At: i.PeriodStart},
		PeriodEnd: wire.OptionalTime{At: i.PeriodEnd}, URL: wire.OrNull(i.URL), PDFURL: wire.OrNull(i.PDF),
		CreatedAt: wire.OptionalTime{At: i.Created}}
}

func invoiceExample() map[string]any {
	return map[string]any{"id": "in_1a2b3c", "number": "ACME-0001", "status": "paid", "total": 4900, "currency": "eur",
		"period_start": exampleTime(1, 1, 0), "period_end": exampleTime(2, 1, 0),
		"url": "https://invoice.stripe.com/i/a1", "pdf_url": "https://pay.stripe.com/invoice/a1/pdf", "created_at": exampleTime(2, 1, 0)}
}
