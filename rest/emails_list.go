package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/page"
)

type emailList struct {
	Emails     []emailRecord `json:"emails" nullable:"false"`
	HasMore    bool          `json:"has_more"`
	NextCursor *string       `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

// emailQuery is a page of the list and what narrows it. Huma does not see the
// parameters of an embedded pageInput.
type emailQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"How many to return."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; opaque. Left out: the newest."`
	Status string `query:"status" enum:"queued,scheduled,sent,delivered,bounced,failed,cancelled" doc:"Only emails of this status."`
	To     string `query:"to" doc:"Only emails with this address in to, cc or bcc." example:"bob@example.net"`
	From   string `query:"from" doc:"Only emails from this address." example:"ada@example.com"`
	Tag    string `query:"tag" doc:"Only emails with this tag, as name:value." example:"kind:receipt"`
	Domain string `query:"domain" doc:"Only emails from this domain: its name or its id." example:"example.com"`
	Since  string `query:"since" doc:"Only emails created at this time or later. RFC 3339, with Z or an offset." example:"2026-01-15T09:30:00Z"`
	Until  string `query:"until" doc:"Only emails created before this time. RFC 3339, with Z or an offset." example:"2026-01-16T00:00:00Z"`
	Q      string `query:"q" doc:"Words to look for in subject, names, addresses and tags; all have to be found, each as the beginning of a word. At most 200 characters and 10 words." example:"receipt ada"`
}

func listOperation() operation {
	return operation{
		method: http.MethodGet, path: "/emails", id: "listEmails", tag: tagEmails, needs: accounts.ReadSent,
		summary: "List emails",
		description: "Newest first. Emails that arrive while you page do not move what you have not seen yet. Filters can be combined; " +
			"give the same ones with each cursor.",
		example: emailListExample(),
	}
}

func (e *emailEdge) list(ctx context.Context, c *call, in *emailQuery) (*emailList, error) {
	query, err := in.listQuery()
	if err != nil {
		return nil, err
	}
	found, err := e.send.List(ctx, c.AccountID, query)
	if err != nil {
		return nil, err
	}
	out := emailList{Emails: []emailRecord{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, row := range found.Items {
		out.Emails = append(out.Emails, newEmailRecord(row))
	}
	return &out, nil
}

// listQuery names every wrong parameter at once.
func (in *emailQuery) listQuery() (records.ListQuery, error) {
	wrong := fault.Fields{}
	filter := records.Filter{Status: in.Status, To: in.To, From: in.From, Tag: in.Tag, Domain: in.Domain, Q: in.Q,
		Since: queryTime(wrong, "since", in.Since), Until: queryTime(wrong, "until", in.Until)}
	for field, reason := range filter.Validate() {
		wrong.Add(field, "%s", reason)
	}
	return records.ListQuery{Page: page.Request{Limit: in.Limit, Cursor: in.Cursor}, Filter: filter}, wrong.Err()
}

// queryTime reads a query parameter that is a moment; nil when it is left out.
func queryTime(wrong fault.Fields, field, text string) *time.Time {
	if text == "" {
		return nil
	}
	moment, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		wrong.Add(field, "must be a time as 2026-01-15T09:30:00Z, with Z or an offset")
		return nil
	}
	return &moment
}
