package graph

import (
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts"
)

func toAccount(a accounts.Account) *model.Account {
	return &model.Account{ID: a.ID, Name: a.Name, Email: a.Email, ProductionUnlocked: a.ProductionUnlocked,
		Plan: &model.Plan{ID: a.Plan.ID, Name: a.Plan.Name, RequestsPerSecond: a.Plan.RequestsPerSecond,
			DailyEmails: a.Plan.DailyEmails, MonthlyEmails: a.Plan.MonthlyEmails, MaxDomains: a.Plan.MaxDomains}}
}
