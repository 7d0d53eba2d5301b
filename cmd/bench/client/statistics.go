package client

import (
	"context"
	"fmt"
	"time"
)

// queriesPerRound is the number of times a round runs one query.
const queriesPerRound = 60

// StatisticsQuery is a GraphQL query of the statistics of a year by day. Arguments and fields extend the common query.
type StatisticsQuery struct{ Name, arguments, fields string }

// StatisticsQueries are the measured queries.
var StatisticsQueries = []StatisticsQuery{
	{"total", ``, ``},
	{"with latencies", ``, ` latency { p50 p95 }`},
	{"by domain", `, groupBy: DOMAIN`, ``},
	{"by recipient domain (1,000 domains)", `, groupBy: RECIPIENT_DOMAIN`, ``},
	{"by tag", `, groupBy: TAG`, ``},
	{"one domain", `, filter: {domainId: "dom_bench1"}`, ``},
	{"one domain, by tag", `, groupBy: TAG, filter: {domainId: "dom_bench1"}`, ``},
	{"one recipient domain", `, filter: {recipientDomain: "d7.example"}`, ``},
	{"Asia/Kolkata: total", `, timezone: "Asia/Kolkata"`, ``},
	{"Asia/Kolkata: by domain", `, timezone: "Asia/Kolkata", groupBy: DOMAIN`, ``},
	{"Asia/Kolkata: by recipient domain", `, timezone: "Asia/Kolkata", groupBy: RECIPIENT_DOMAIN`, ``},
	{"Asia/Kolkata: by tag", `, timezone: "Asia/Kolkata", groupBy: TAG`, ``},
	{"Europe/Vienna: total", `, timezone: "Europe/Vienna"`, ``},
	{"Europe/Vienna: by recipient domain", `, timezone: "Europe/Vienna", groupBy: RECIPIENT_DOMAIN`, ``},
}

const (
	statisticsQuery = `{ emailStatistics(range: {gte: %q, lt: %q}%s) {
	totals { %[4]s } buckets { start figures { %[4]s } } groups { key label totals { %[4]s } buckets { start figures { accepted delivered } } } } }`
	statisticsFields = `accepted recipients delivered bounced opened deliveryRate { numerator denominator }`
)

// MeasureRound queries the year before a time repeatedly and returns the time of each query.
func (q StatisticsQuery) MeasureRound(ctx context.Context, s Server,
	until time.Time) (took []time.Duration, err error) {
	from, to := until.AddDate(-1, 0, 0).Format(time.RFC3339), until.Format(time.RFC3339)
	text := fmt.Sprintf(statisticsQuery, from, to, q.arguments, statisticsFields+q.fields)
	for range queriesPerRound {
		begin := time.Now()
		answer, err := s.query(ctx, text)
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
		var data struct {
			EmailStatistics struct {
				Totals struct {
					Delivered int `json:"delivered"`
				} `json:"totals"`
				Buckets []struct{} `json:"buckets"`
			} `json:"emailStatistics"`
		}
		if err := decodeData(answer, &data); err != nil {
			return nil, err
		}
		if year := data.EmailStatistics; len(year.Buckets) < 365 || year.Totals.Delivered == 0 {
			return nil, fmt.Errorf("the response has %d days and %d delivered emails", len(year.Buckets),
				year.Totals.Delivered)
		}
	}
	return took, nil
}
