package emails

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Filters are the filters of the list. It is exported because it is embedded.
type Filters struct {
	Status string `query:"status" enum:"queued,scheduled,sent,delivered,bounced,failed,cancelled" doc:"Return only emails with this status."`
	To     string `query:"to" doc:"Return only emails with this address in to, cc or bcc." example:"bob@example.net"`
	From   string `query:"from" doc:"Return only emails from this address." example:"ada@example.com"`
	Tag    string `query:"tag" doc:"Return only emails with this tag, written as name:value." example:"kind:receipt"`
	Domain string `query:"domain" doc:"Return only emails from this domain, given by name or ID." example:"example.com"`
	Since  string `query:"since" doc:"Return only emails created at or after this time. RFC 3339 with Z or an offset." example:"2026-01-15T09:30:00Z"`
	Until  string `query:"until" doc:"Return only emails created before this time. RFC 3339 with Z or an offset." example:"2026-01-16T00:00:00Z"`
	Q      string `query:"q" doc:"Words to find in subject, names, addresses and tags, or an ID. Every word must match the beginning of a word or a part of an address, such as its domain; in the newest 10,000 emails, any part of a word. At most 200 characters and 10 words. Quoted text is matched literally. Also accepts to: and from: with an address or a part of one, subject:, domain:, tag:name=value, status:, is:opened, is:clicked, is:bounced, template:, automation:, after:2026-01-31 and before:." example:"receipt to:ada@example.net"`
}

// query is a page of the list.
type query struct {
	api.Page
	Filters
}

// of returns the filter, or an error with every invalid parameter.
func (in *Filters) of(r page.Request) (records.ListQuery, error) {
	wrong := fault.Fields{}
	filter := records.Filter{Status: in.Status, To: api.QueryAddress(in.To), From: api.QueryAddress(in.From),
		Tag: in.Tag, Domain: in.Domain, Q: in.Q,
		Since: api.QueryTime(wrong, "since", in.Since), Until: api.QueryTime(wrong, "until", in.Until)}
	for field, reason := range filter.Validate() {
		wrong.Add(field, "%s", reason)
	}
	return records.ListQuery{Page: r, Filter: filter}, wrong.Err()
}

func (e *edge) list(ctx context.Context, c *api.Call, in *query) (page.Page[*ent.Email], error) {
	return e.find(ctx, c, &in.Filters, in.Request())
}

func (e *edge) find(ctx context.Context, c *api.Call, in *Filters, r page.Request) (page.Page[*ent.Email], error) {
	q, err := in.of(r)
	if err != nil {
		return page.Page[*ent.Email]{}, err
	}
	q.Filter.DomainIDs = c.DomainIDs
	return e.records.List(ctx, c.AccountID, q)
}
