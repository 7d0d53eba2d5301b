package graph

import (
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/id"
)

func toAccount(a accounts.Account) *model.Account {
	return &model.Account{ID: id.HomeAccount(a.ID), Name: a.Name, Email: a.Email, ProductionUnlocked: a.IsUnlocked(true),
		PaymentMethod: a.PaymentMethod,
		Suspended:     a.Suspended, BodyRetentionDays: a.BodyRetentionDays, RecordRetentionDays: a.RecordRetentionDays,
		Plan: &a.Plan}
}

func keyFilter(in *model.APIKeyFilter) (f accounts.KeyFilter) {
	if in == nil {
		return f
	}
	f.Text, f.Revoked = stringOrEmpty(in.Query), in.Revoked
	if in.Scope != nil {
		f.Scope = *in.Scope
	}
	return f
}

func toUsage(u accounts.Usage) *model.Usage {
	day, month := int(u.Day), int(u.Month)
	return &model.Usage{Day: &day, Month: &month, DailyCap: u.DailyCap, MonthlyCap: u.MonthlyCap,
		DayResetsAt: u.DayEnds, MonthResetsAt: u.MonthEnds,
		StoredBytes: toFloat(u.StoredBytes), StoredBytesCap: toFloat(u.StoredBytesCap),
		DailyBytes: toFloat(u.DailyBytes), DailyBytesCap: toFloat(u.DailyBytesCap)}
}

// toFloat returns a number that can be larger than an Int of GraphQL.
func toFloat[N int | int64](n *N) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}
