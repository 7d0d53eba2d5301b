package emails

import (
	"context"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/export"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/storage/page"
)

type exportQuery struct {
	export.Input
	Filters
}

func (e *edge) exporting(g *api.Group) {
	export.Add(g, api.Operation{
		Path: "/emails/export", ID: "exportEmails", Needs: rights.Read,
		Summary: "Export emails", Description: "All emails that the filters leave, without their bodies.",
	}, export.List[exportQuery, *ent.Email, EmailRecord]{
		Turns: e.turns, Name: "emails", Show: newEmailRecord, Columns: exportColumns, Example: exportExample(),
		Page: func(ctx context.Context, c *api.Call, in *exportQuery, r page.Request) (page.Page[*ent.Email], error) {
			return e.find(ctx, c, &in.Filters, r)
		},
	})
}

var exportColumns = []export.Column[EmailRecord]{
	{Name: "id", Text: func(r EmailRecord) string { return r.ID }},
	{Name: "created_at", Text: func(r EmailRecord) string { return export.Moment(r.CreatedAt) }},
	{Name: "status", Text: func(r EmailRecord) string { return r.Status }},
	{Name: "last_event", Text: func(r EmailRecord) string { return r.LastEvent }},
	{Name: "from", Text: func(r EmailRecord) string { return r.From }},
	{Name: "to", Text: func(r EmailRecord) string { return export.Addresses(r.To) }},
	{Name: "cc", Text: func(r EmailRecord) string { return export.Addresses(r.CC) }},
	{Name: "bcc", Text: func(r EmailRecord) string { return export.Addresses(r.BCC) }},
	{Name: "reply_to", Text: func(r EmailRecord) string { return export.Addresses(r.ReplyTo) }},
	{Name: "subject", Text: func(r EmailRecord) string { return r.Subject }},
	{Name: "tags", Text: tagCell},
	{Name: "bounce_reason", Text: func(r EmailRecord) string { return export.OrEmpty(r.BounceReason) }},
	{Name: "scheduled_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.ScheduledAt) }},
	{Name: "expires_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.ExpiresAt) }},
	{Name: "cancelled_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.CancelledAt) }},
	{Name: "sent_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.SentAt) }},
	{Name: "delivered_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.DeliveredAt) }},
	{Name: "bounced_at", Text: func(r EmailRecord) string { return export.OptionalMoment(r.BouncedAt) }},
	{Name: "automation_id", Text: func(r EmailRecord) string { return export.OrEmpty(r.AutomationID) }},
	{Name: "run_id", Text: func(r EmailRecord) string { return export.OrEmpty(r.RunID) }},
}

// tagCell writes tags as the search takes them; neither name nor value has a space.
func tagCell(r EmailRecord) string {
	words := make([]string, len(r.Tags))
	for i, t := range r.Tags {
		words[i] = t.Name + "=" + t.Value
	}
	return strings.Join(words, " ")
}

func exportExample() EmailRecord {
	at := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	delivered := at.Add(1250 * time.Millisecond)
	return EmailRecord{ID: email.Example, From: "Ada <ada@example.com>", To: []string{"bob@example.net"}, CC: []string{}, BCC: []string{}, ReplyTo: []string{},
		Subject: "Your receipt", Status: "delivered", LastEvent: "email.delivered", Tags: []emailTag{{"kind", "receipt"}},
		CreatedAt: wire.Time(at), SentAt: wire.OptionalTime{At: &at}, DeliveredAt: wire.OptionalTime{At: &delivered}}
}
