// Package asking asks for a year of statistics over GraphQL.
package asking

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/bench/reading"
)

// reads is how often a question is asked in one round.
const reads = 60

// Question is one about a year by day: Arguments and Fields are added to what all questions have.
type Question struct{ Name, Arguments, Fields string }

// Questions are those that are measured.
var Questions = []Question{
	{"a year by day", ``, ``},
	{"a year by day, with latencies", ``, ` latency { p50 p95 }`},
	{"by domain", `, groupBy: DOMAIN`, ``},
	{"by recipients' domain (1,000 of them)", `, groupBy: RECIPIENT_DOMAIN`, ``},
	{"by tag", `, groupBy: TAG`, ``},
	{"of one domain", `, filter: {domainId: "dom_bench1"}`, ``},
	{"of one domain, by tag", `, groupBy: TAG, filter: {domainId: "dom_bench1"}`, ``},
	{"of one recipients' domain", `, filter: {recipientDomain: "d7.example"}`, ``},
	{"in a zone of half hours (Asia/Kolkata)", `, timezone: "Asia/Kolkata"`, ``},
	{"the same by domain", `, timezone: "Asia/Kolkata", groupBy: DOMAIN`, ``},
	{"the same by recipients' domain", `, timezone: "Asia/Kolkata", groupBy: RECIPIENT_DOMAIN`, ``},
	{"the same by tag", `, timezone: "Asia/Kolkata", groupBy: TAG`, ``},
	{"in a zone of whole hours (Europe/Vienna)", `, timezone: "Europe/Vienna"`, ``},
	{"the same by recipients' domain", `, timezone: "Europe/Vienna", groupBy: RECIPIENT_DOMAIN`, ``},
}

// Round asks a question about the year before a time again and again, and returns how long each answer took.
func (q Question) Round(ctx context.Context, s reading.Server, until time.Time) (took []time.Duration, err error) {
	text := fmt.Sprintf(`{ emailStatistics(range: {gte: %q, lt: %q}%s) { totals { %[4]s } buckets { start figures { %[4]s } } groups { key label totals { %[4]s } buckets { start figures { accepted delivered } } } } }`,
		until.AddDate(-1, 0, 0).Format(time.RFC3339), until.Format(time.RFC3339), q.Arguments, `accepted recipients delivered bounced opened deliveryRate { numerator denominator }`+q.Fields)
	body, err := json.Marshal(map[string]string{"query": text})
	if err != nil {
		return nil, err
	}
	for range reads {
		begin := time.Now()
		answer, err := reading.Post(ctx, s, body)
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
		var got struct {
			Data struct {
				EmailStatistics struct {
					Totals struct {
						Delivered int `json:"delivered"`
					} `json:"totals"`
					Buckets []struct{} `json:"buckets"`
				} `json:"emailStatistics"`
			} `json:"data"`
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			return nil, err
		}
		if year := got.Data.EmailStatistics; len(year.Buckets) < 365 || year.Totals.Delivered == 0 {
			return nil, fmt.Errorf("the answer has %d days and %d delivered emails: %.300s", len(year.Buckets), year.Totals.Delivered, answer)
		}
	}
	return took, nil
}
