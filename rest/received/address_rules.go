package received

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/inbound/addressrules"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/rest/domains"
)

type addressRule struct {
	Match  string `json:"match" doc:"The part before the @. * matches any characters." example:"support"`
	Action string `json:"action" enum:"accept,reject" doc:"Whether matching addresses are accepted or rejected."`
}

type addressRules struct {
	Rules    []addressRule `json:"rules" nullable:"false" doc:"The first rule that matches decides."`
	CatchAll bool          `json:"catch_all" doc:"Whether addresses that match no rule are accepted."`
}

type addressRulesAnswer struct {
	AddressRules addressRules `json:"address_rules" doc:"The address rules of the domain."`
}

// addRules adds the operations on the address rules of a domain.
func (e *edge) addRules(g *api.TagGroup) {
	example := map[string]any{"rules": []any{map[string]any{"match": "support", "action": "accept"},
		map[string]any{"match": "sales*", "action": "accept"}}, "catch_all": false}
	answer := map[string]any{"address_rules": example}
	api.Get(g, api.Operation{
		Path: "/domains/{id}/address-rules", ID: "getAddressRules", Needs: rights.Read,
		Summary: "Retrieve a domain's address rules", Description: "Returns the rules for which addresses of the " +
			"domain receive mail. A domain without rules accepts mail for every address.",
		Example: answer, Of: domains.Noun,
	}, e.mail.Rules, newRulesAnswer)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPut, Path: "/domains/{id}/address-rules", ID: "putAddressRules", Needs: rights.Write,
		Summary: "Replace a domain's address rules",
		Description: "Replaces the address rules of a domain. The first rule that matches the part before the @ " +
			"decides; `*` matches any characters, and case is ignored. Other addresses are refused during SMTP " +
			"(`550 5.1.1`), so that senders find out immediately. `postmaster` is always accepted. All processes " +
			"of the installation apply the rules within seconds.",
		Body: &api.Body{About: "All rules.",
			Examples: map[string]any{"some": example, "all": map[string]any{"rules": []any{}, "catch_all": true}}},
		Example: answer, Problems: []int{http.StatusNotFound}, Of: domains.Noun,
	}, rulesBody, e.putRules)
}

func rulesBody(r *addressrules.Rules) body.Object {
	return body.Object{Name: "AddressRulesInput", NoNull: true, Fields: []body.Field{
		{Name: "rules", Type: body.List(&r.Rules, ruleObject).Count(0, addressrules.MaxRules), Need: body.Required,
			About: "The rules. The first one that matches decides."},
		{Name: "catch_all", Type: body.Boolean(&r.CatchAll), Need: body.Required, About: "Whether addresses that match no rule are accepted."},
	}}
}

func ruleObject(r *shape.AddressRule) body.Object {
	return body.Object{Name: "AddressRuleInput", Fields: []body.Field{
		{Name: "match", Type: body.Text(&r.Match).Length(0, addressrules.MaxMatch), Need: body.RequiredByService,
			About: "The " +
				"part before the @. * matches any characters."},
		{Name: "action", Type: body.Choice(&r.Action, addressrules.Accept, addressrules.Reject), Need: body.RequiredByService,
			About: "Whether matching addresses are accepted or rejected."},
	}}
}

func newRulesAnswer(r addressrules.Rules) addressRulesAnswer {
	return addressRulesAnswer{addressRules{Rules: wire.ListOf(r.Rules,
		func(rule shape.AddressRule) addressRule { return addressRule(rule) }), CatchAll: r.CatchAll}}
}

func (e *edge) putRules(ctx context.Context, c *api.Call, in *api.Item,
	rules addressrules.Rules) (addressRulesAnswer, error) {
	return api.As(newRulesAnswer)(e.mail.PutRules(ctx, c.AccountID, in.ID, rules))
}
